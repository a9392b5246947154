-- Revert pymem:functions/scoring from pg

begin;

drop function memory.asymmetric_score(bigint, bigint);
drop function memory.composite_score(
  float8, float8, float8, float8, float8, float8, float8, float8, float8
);
drop function memory.required_relevance(float8, float8, float8);
drop function memory.required_evidence(float8, bigint);
drop function memory.weigh_evidence(float8, float8, float8, float8);
drop function memory.words_score(float8, float8);
drop function memory.meaning_score(float8, float8, float8);
drop function memory.relevance_score(float8, integer);
drop function memory.rrf_score(bigint, bigint, bigint, integer);
drop function memory.recency_score(timestamptz, float8, timestamptz);
drop function memory.effective_confidence(float8, float8, timestamptz, timestamptz);
drop function memory.days_between(timestamptz, timestamptz);

commit;
