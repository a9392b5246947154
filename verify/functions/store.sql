-- Verify pymem:functions/store on pg

begin;
select
  'memory.store_episode(
    text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, timestamptz
  )'::regprocedure,
  'memory.read_episodes(jsonb, timestamptz)'::regprocedure,
  'memory.store_episodes(jsonb, timestamptz)'::regprocedure,
  'memory.store_fact(
    text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector,
    uuid, text, timestamptz
  )'::regprocedure,
  'memory.store_rule(
    text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
  )'::regprocedure,
  'memory.check_idempotency_key(text)'::regprocedure,
  'memory.refuse_reused_key(text)'::regprocedure,
  'memory.check_source(text, text, uuid)'::regprocedure,
  'memory.lock_entity(text, uuid)'::regprocedure;
rollback;
