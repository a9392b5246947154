-- Verify pymem:functions/recall on pg

begin;
select
  'memory.rank_memories(
    text, text, integer, text[], float8, float8, vector, uuid, timestamptz, timestamptz,
    timestamptz
  )'::regprocedure,
  'memory.count_references(uuid[], uuid[], uuid[], timestamptz)'::regprocedure,
  'memory.recall(
    text, text, integer, text[], float8, float8, vector, uuid, timestamptz, timestamptz,
    timestamptz
  )'::regprocedure;
rollback;
