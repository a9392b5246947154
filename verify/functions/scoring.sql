-- Verify pymem:functions/scoring on pg

begin;
select
  'memory.days_between(timestamptz, timestamptz)'::regprocedure,
  'memory.effective_confidence(float8, float8, timestamptz, timestamptz)'::regprocedure,
  'memory.recency_score(timestamptz, float8, timestamptz)'::regprocedure,
  'memory.rrf_score(bigint, bigint, bigint, integer)'::regprocedure,
  'memory.relevance_score(float8, integer)'::regprocedure,
  'memory.meaning_score(float8, float8, float8)'::regprocedure,
  'memory.words_score(float8, float8)'::regprocedure,
  'memory.weigh_evidence(float8, float8, float8, float8)'::regprocedure,
  'memory.required_evidence(float8, bigint)'::regprocedure,
  'memory.required_relevance(float8, float8, float8)'::regprocedure,
  'memory.composite_score(
    float8, float8, float8, float8, float8, float8, float8, float8, float8
  )'::regprocedure,
  'memory.asymmetric_score(bigint, bigint)'::regprocedure;
rollback;
