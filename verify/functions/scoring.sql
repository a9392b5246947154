-- Verify pymem:functions/scoring on pg

begin;
select
  'memory.days_between(timestamptz, timestamptz)'::regprocedure,
  'memory.effective_confidence(float8, float8, timestamptz, timestamptz)'::regprocedure,
  'memory.recency_score(timestamptz, float8, timestamptz)'::regprocedure,
  'memory.rrf_score(bigint, bigint, bigint, integer)'::regprocedure,
  'memory.relevance_score(float8, integer, bigint)'::regprocedure,
  'memory.composite_score(
    float8, float8, float8, float8, float8, float8, float8, float8
  )'::regprocedure,
  'memory.asymmetric_score(bigint, bigint)'::regprocedure;
rollback;
