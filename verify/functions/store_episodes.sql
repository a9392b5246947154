-- Verify pymem:functions/store_episodes on pg

begin;
select
  'memory.store_episode(
    text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, text, timestamptz
  )'::regprocedure,
  'memory.read_episodes(jsonb, timestamptz)'::regprocedure,
  'memory.store_episodes(jsonb, timestamptz)'::regprocedure;
rollback;
