-- Verify pymem:functions/keywords on pg

begin;
select
  'memory.term_frequency(tsvector, tsquery)'::regprocedure,
  'memory.keyword_query'::regtype,
  'memory.one_lexeme(text)'::regprocedure,
  'memory.inverse_document_frequency(bigint, bigint)'::regprocedure,
  'memory.saturate_frequency(float8, float8, float8, float8)'::regprocedure,
  'memory.bm25_matches(
    memory.corpus_size[], memory.keyword_query, memory.settings, text, float8, timestamptz
  )'::regprocedure,
  'memory.keyword_matches(
    text, text, tsquery, bigint[], bigint[], text, integer, float8, timestamptz
  )'::regprocedure;
rollback;
