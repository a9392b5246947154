-- Verify pymem:functions/candidates on pg

begin;
select
  'memory.normalize_name(text)'::regprocedure,
  'memory.read_query(text, text, memory.settings)'::regprocedure,
  'memory.fuse_lists(
    text[], text, memory.keyword_query, vector, text, integer, float8, memory.settings,
    timestamptz
  )'::regprocedure,
  'memory.boost_candidates(
    text[], text, memory.keyword_query, vector, text, integer, float8, memory.settings,
    timestamptz
  )'::regprocedure,
  'memory.find_memories(
    text[], text, text, vector, text, integer, float8, text, boolean, integer, memory.settings,
    timestamptz
  )'::regprocedure,
  'memory.fused_candidate'::regtype,
  'memory.keyword_query'::regtype;
rollback;
