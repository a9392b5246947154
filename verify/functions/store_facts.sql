-- Verify pymem:functions/store_facts on pg

begin;
select
  'memory.store_fact(
    text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector,
    uuid, text, timestamptz
  )'::regprocedure,
  'memory.lock_entity(text, uuid)'::regprocedure;
rollback;
