-- Verify pymem:functions/explain on pg

begin;
select
  'memory.list_candidates(
    text[], text, vector, text, integer, float8, float8, memory.settings, timestamptz
  )'::regprocedure,
  'memory.find_dropped(
    text[], text, vector, text, integer, float8, memory.settings, timestamptz
  )'::regprocedure,
  'memory.recall_explain(
    text, text, integer, text[], float8, float8, vector, uuid, timestamptz
  )'::regprocedure;
rollback;
