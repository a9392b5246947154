-- Verify pymem:functions/store_rules on pg

begin;
select
  'memory.store_rule(
    text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
  )'::regprocedure;
rollback;
