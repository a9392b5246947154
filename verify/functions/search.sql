-- Verify pymem:functions/search on pg

begin;
select
  'memory.refuse_limit(integer)'::regprocedure,
  'memory.check_limit(integer)'::regprocedure,
  'memory.compare_query_version(vector, uuid)'::regprocedure,
  'memory.check_query_embedding(vector, uuid)'::regprocedure,
  'memory.semantic_search(text, vector, text, integer, uuid, timestamptz)'::regprocedure,
  'memory.keyword_search(text, text, text, integer, text, timestamptz)'::regprocedure,
  'memory.hybrid_search(text, text, vector, text, integer, text, uuid, timestamptz)'::regprocedure,
  'memory.search(
    text, text[], text, text, integer, float8, float8, vector, uuid, timestamptz
  )'::regprocedure,
  'memory.read_types(text[])'::regprocedure,
  'memory.check_types(text[])'::regprocedure,
  'memory.refuse_query(text)'::regprocedure,
  'memory.check_query(text)'::regprocedure;
rollback;
