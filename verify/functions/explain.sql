-- Verify pymem:functions/explain on pg

begin;
select
  'memory.find_dropped(
    text[], text, vector, text, integer, float8, memory.settings, timestamptz
  )'::regprocedure,
  'memory.recall_explain(
    text, text, integer, text[], float8, float8, vector, uuid, timestamptz
  )'::regprocedure;
rollback;
