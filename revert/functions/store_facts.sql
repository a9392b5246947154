-- Revert pymem:functions/store_facts from pg

begin;

drop function memory.lock_entity(text, uuid);
drop function memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid, text,
  timestamptz
);

commit;
