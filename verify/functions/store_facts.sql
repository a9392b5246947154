-- Verify pymem:functions/store_facts on pg

begin;
select
  'memory.store_fact(
    text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid,
    text, timestamptz, timestamptz, uuid, timestamptz
  )'::regprocedure,
  'memory.read_facts(jsonb, timestamptz)'::regprocedure,
  'memory.check_facts(memory.fact_to_store[])'::regprocedure,
  'memory.store_facts(jsonb, uuid, timestamptz)'::regprocedure,
  'memory.lock_fact_key(text, text, text, uuid, text)'::regprocedure,
  'memory.lock_entities(text, uuid[], text)'::regprocedure,
  'memory.lock_sources(text, uuid[], text)'::regprocedure;
rollback;
