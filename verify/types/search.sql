-- Verify pymem:types/search on pg

begin;
select
  'memory.candidate'::regtype,
  'memory.word_match'::regtype,
  'memory.ranked_memory'::regtype,
  'memory.corpus_size'::regtype,
  'memory.keyword_query'::regtype,
  'memory.fused_candidate'::regtype,
  'memory.explained_memory'::regtype,
  'memory.related_memory'::regtype,
  'memory.listed_memory'::regtype,
  'memory.memory_difference'::regtype,
  'memory.memory_filter'::regtype,
  'memory.list_place'::regtype,
  'memory.context_line'::regtype,
  'memory.query_condition'::regtype,
  'memory.query_token'::regtype,
  'memory.question'::regtype,
  'memory.mentioned'::regtype,
  'memory.possession'::regtype,
  'memory.relations'::regtype;
rollback;
