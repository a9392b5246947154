-- Verify pymem:functions/candidates on pg

begin;
select
  'memory.normalize_name(text)'::regprocedure,
  'memory.fuse_lists(
    text[], text, text, vector, text, integer, float8, text, memory.settings, timestamptz
  )'::regprocedure,
  'memory.boost_candidates(
    text[], text, vector, text, integer, float8, text, memory.settings, timestamptz
  )'::regprocedure,
  'memory.find_memories(
    text[], text, text, vector, text, integer, float8, text, boolean, integer, memory.settings,
    timestamptz
  )'::regprocedure;
rollback;
