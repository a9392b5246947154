-- Deploy pymem:functions/scoring to pg
-- requires: schema

begin;

set local role memory_owner;

-- All pure: the time is an argument. Bodies are parsed here, so they need no search_path, and short
-- enough that the planner inlines them.

create function memory.days_between(
  earlier timestamptz,
  later timestamptz
)
  returns float8
  language sql
  immutable
  parallel safe
  return greatest(0.0, date_part('epoch', later - earlier) / 86400.0);

comment on function memory.days_between(timestamptz, timestamptz) is
'Days from earlier to later, fractions included; 0 when later comes first. NULL for a NULL.';

create function memory.effective_confidence(
  confidence float8,
  decay_rate float8,
  last_confirmed_at timestamptz,
  as_of timestamptz default now()
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when decay_rate = 0 then confidence
    when last_confirmed_at is null then 0.0
    -- exp underflows below -745 and would raise.
    else confidence
      * exp(greatest(-700.0, -decay_rate * memory.days_between(last_confirmed_at, as_of)))
  end;

comment on function memory.effective_confidence(float8, float8, timestamptz, timestamptz) is
'Confidence after decay: confidence * exp(-decay_rate * days since last_confirmed_at) (the '
'forgetting curve of Ebbinghaus). 0 when never confirmed; undiminished when decay_rate is 0 or '
'the confirmation lies ahead. Range 0..confidence.';

create function memory.recency_score(
  last_referenced_at timestamptz,
  half_life_days float8 default 7,
  as_of timestamptz default now()
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when last_referenced_at is null then 0.0
    else exp(greatest(
      -700.0, -ln(2.0::float8) / half_life_days * memory.days_between(last_referenced_at, as_of)
    ))
  end;

comment on function memory.recency_score(timestamptz, float8, timestamptz) is
'Recency: halves every half_life_days since the last reference; 0 when never referenced. Range '
'0..1.';

create function memory.rrf_score(
  semantic_rank bigint,
  keyword_rank bigint,
  missing_rank bigint,
  k integer default 60
)
  returns float8
  language sql
  immutable
  parallel safe
  return 1.0::float8 / (k + coalesce(semantic_rank, missing_rank))
    + 1.0::float8 / (k + coalesce(keyword_rank, missing_rank));

comment on function memory.rrf_score(bigint, bigint, bigint, integer) is
'Reciprocal rank fusion of two lists (Cormack, Clarke and Buettcher, SIGIR 2009): '
'1/(k + semantic_rank) + 1/(k + keyword_rank), ranks from 1; a NULL rank counts as missing_rank.';

create function memory.relevance_score(
  rrf_score float8,
  k integer default 60,
  missing_rank bigint default null
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when missing_rank is null then least(1.0, rrf_score * (k + 1) / 2.0)
    else least(1.0, greatest(
      0.0,
      (rrf_score - 2.0::float8 / (k + missing_rank))
      / (2.0::float8 / (k + 1) - 2.0::float8 / (k + missing_rank))
    ))
  end;

comment on function memory.relevance_score(float8, integer, bigint) is
'RRF score over its maximum 2/(k + 1), which two first ranks reach. With missing_rank, the same '
'between what a memory in neither list would have, 2/(k + missing_rank), as 0, and the maximum. '
'Range 0..1.';

create function memory.composite_score(
  relevance float8,
  importance float8,
  recency float8,
  effective_confidence float8,
  weight_relevance float8 default 0.4,
  weight_importance float8 default 0.3,
  weight_recency float8 default 0.2,
  weight_confidence float8 default 0.1
)
  returns float8
  language sql
  immutable
  parallel safe
  return weight_relevance * relevance
    + weight_importance * (importance / 10.0)
    + weight_recency * recency
    + weight_confidence * effective_confidence;

comment on function memory.composite_score(
  float8, float8, float8, float8, float8, float8, float8, float8
) is
'What recall orders by: 0.4 relevance + 0.3 importance/10 + 0.2 recency + 0.1 effective '
'confidence, with the weights of the settings. Relevance, recency and confidence in 0..1, '
'importance in 0..10.';

create function memory.asymmetric_score(
  success_count bigint,
  harmful_count bigint
)
  returns float8
  language sql
  immutable
  parallel safe
  return success_count / (success_count + 4.0::float8 * harmful_count + 0.01);

comment on function memory.asymmetric_score(bigint, bigint) is
'Effectiveness of a rule in which one harm outweighs four successes: success / (success + 4 '
'harmful + 0.01). Range 0..1.';

commit;
