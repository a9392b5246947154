-- Verify pymem:functions/keywords on pg

begin;
select
  'memory.term_frequency(tsvector, tsquery)'::regprocedure,
  'memory.bm25_matches(
    text, tsquery, text[], memory.settings, text, integer, float8, timestamptz
  )'::regprocedure,
  'memory.keyword_matches(
    text, text, tsquery, bigint[], bigint[], text, integer, float8, timestamptz
  )'::regprocedure;
rollback;
