-- Revert pymem:functions/scoring from pg

begin;

drop function memory.asymmetric_score(bigint, bigint);
drop function memory.composite_score(
  float8, float8, float8, float8, float8, float8, float8, float8
);
drop function memory.relevance_score(float8, integer, bigint);
drop function memory.rrf_score(bigint, bigint, bigint, integer);
drop function memory.recency_score(timestamptz, float8, timestamptz);
drop function memory.effective_confidence(float8, float8, timestamptz, timestamptz);
drop function memory.days_between(timestamptz, timestamptz);

commit;
