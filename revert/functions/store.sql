-- Revert pymem:functions/store from pg

begin;

drop function memory.lock_entity(text, uuid);
drop function memory.check_source(text, text, uuid);
drop function memory.refuse_reused_key(text);
drop function memory.check_idempotency_key(text);
drop function memory.store_rule(
  text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
);
drop function memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid, text,
  timestamptz
);
drop function memory.store_episodes(jsonb, timestamptz);
drop function memory.read_episodes(jsonb, timestamptz);
drop function memory.store_episode(
  text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, timestamptz
);

commit;
