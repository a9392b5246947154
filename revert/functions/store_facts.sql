-- Revert pymem:functions/store_facts from pg

begin;

drop function memory.lock_sources(text, uuid [], text);
drop function memory.lock_entities(text, uuid [], text);
drop function memory.lock_fact_key(text, text, text, uuid, text);
drop function memory.store_facts(jsonb, uuid, timestamptz);
drop function memory.check_facts(memory.fact_to_store []);
drop function memory.read_facts(jsonb, timestamptz);
drop function memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid,
  text, timestamptz, timestamptz, uuid, timestamptz
);
drop type memory.fact_to_store;

commit;
