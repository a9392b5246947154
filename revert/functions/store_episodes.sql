-- Revert pymem:functions/store_episodes from pg

begin;

drop function memory.store_episodes(jsonb, timestamptz);
drop function memory.read_episodes(jsonb, timestamptz);
drop function memory.store_episode(
  text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, text, timestamptz
);

commit;
