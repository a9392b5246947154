-- Verify pymem:functions/candidates on pg

begin;
select
  'memory.normalize_name(text)'::regprocedure,
  'memory.read_query(text, text, memory.settings)'::regprocedure,
  'memory.fuse_lists(
    text[], text, memory.keyword_query, vector, text, integer, float8, integer,
    memory.settings, timestamptz
  )'::regprocedure,
  'memory.near_by_index(
    text[], vector, memory.word_match[], text, integer, float8, integer, timestamptz
  )'::regprocedure,
  'memory.boost_episodes(memory.fused_candidate[], memory.settings)'::regprocedure,
  'memory.weigh_memories(
    text[], memory.keyword_query, vector, text, integer, float8, memory.corpus_size[],
    memory.settings, timestamptz
  )'::regprocedure,
  'memory.list_candidates(
    text[], text, text, vector, text, integer, float8, float8, text, boolean, memory.settings,
    timestamptz
  )'::regprocedure,
  'memory.judge_candidates(
    memory.fused_candidate[], text, tstzmultirange, boolean, float8, float8, memory.settings
  )'::regprocedure,
  'memory.find_memories(
    text[], text, text, vector, text, integer, float8, float8, text, boolean, boolean,
    memory.settings, timestamptz
  )'::regprocedure,
  'memory.fused_candidate'::regtype;
rollback;
