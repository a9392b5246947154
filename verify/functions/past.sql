-- Verify pymem:functions/past on pg

begin;
select
  'memory.memories_at(text, text[], timestamptz)'::regprocedure,
  'memory.find_memories_at(
    text[], text, vector, text, integer, float8, float8, memory.settings, timestamptz,
    timestamptz, timestamptz
  )'::regprocedure;
rollback;
