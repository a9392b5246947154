-- Deploy pymem:functions/core/base/scoring to pg

begin;

set local role memory_owner;

-- All functions are pure: the time is an argument. Their bodies are parsed here, so they need no
-- search_path, and are short enough for the planner to inline.

create or replace function memory.days_between(
  earlier timestamptz,
  later timestamptz
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when later <= earlier then 0.0
    else date_part('epoch', later - earlier) / 86400.0
  end;

comment on function memory.days_between(timestamptz, timestamptz) is
'Days from earlier to later, including fractions; 0 if later comes first. NULL for a NULL.';
grant execute on function memory.days_between
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.effective_confidence(
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
'forgetting curve of Ebbinghaus). 0 if never confirmed; no decay if decay_rate is 0 or the '
'confirmation is in the future. Range 0..confidence.';
grant execute on function memory.effective_confidence
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.decay_key(
  confidence float8,
  decay_rate float8,
  last_confirmed_at timestamptz
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when confidence > 0 and decay_rate = 0 then ln(confidence)
    when confidence > 0 and last_confirmed_at is not null
    then ln(confidence) + decay_rate * (date_part('epoch', last_confirmed_at) / 86400.0)
    else '-infinity'::float8
  end;

comment on function memory.decay_key(float8, float8, timestamptz) is
'Orders memories of one decay rate by effective confidence, at any time after their confirmation: '
'ln(confidence) + decay_rate * days from 1970 to last_confirmed_at. Minus decay_rate * days from '
'1970 to then, it is the logarithm of their effective confidence then. An index can hold it.';

create or replace function memory.reaches_at(
  confidence float8,
  decay_rate float8,
  last_confirmed_at timestamptz,
  threshold float8
)
  returns timestamptz
  language sql
  immutable
  parallel safe
  return case
    when confidence <= threshold then last_confirmed_at
    when decay_rate > 0 and threshold > 0 and ln(confidence / threshold) / decay_rate < 365000
    then last_confirmed_at
      + make_interval(secs => ln(confidence / threshold) / decay_rate * 86400.0)
  end;

comment on function memory.reaches_at(float8, float8, timestamptz, float8) is
'When effective confidence has decayed to a threshold: ln(confidence / threshold) / decay_rate '
'days after the confirmation, or with the confirmation if it was not above it. NULL: never, or in '
'more than a thousand years.';

create or replace function memory.recency_score(
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
'Recency: halves every half_life_days since the last reference; 0 if never referenced. Range 0..1.';
grant execute on function memory.recency_score
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.rrf_score(
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
grant execute on function memory.rrf_score
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.relevance_score(
  rrf_score float8,
  k integer default 60
)
  returns float8
  language sql
  immutable
  parallel safe
  return least(1.0, rrf_score * (k + 1) / 2.0);

comment on function memory.relevance_score(float8, integer) is
'RRF score divided by its maximum 2/(k + 1), which a first rank in both lists gives: the relevance '
'of the ranking "specified". Range 0..1.';
grant execute on function memory.relevance_score
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.meaning_score(
  similarity float8,
  similarity_floor float8 default 0.05,
  similarity_ceiling float8 default 0.75
)
  returns float8
  language sql
  immutable
  parallel safe
  -- least and greatest ignore a NULL.
  return case when similarity is not null then least(1.0, greatest(
    0.0, (similarity - similarity_floor) / (similarity_ceiling - similarity_floor)
  )) end;

comment on function memory.meaning_score(float8, float8, float8) is
'How well two texts agree in meaning, independent of other texts: their cosine similarity on the '
'scale of the model (memory.embedding_versions), clamped to 0..1. NULL for NULL.';
grant execute on function memory.meaning_score to memory_search;

create or replace function memory.words_score(
  share float8,
  chance float8 default 0.08
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when share is not null then least(1.0, greatest(0.0, (share - chance) / (0.68 - chance)))
  end;

comment on function memory.words_score(float8, float8) is
'How well a text answers a query by words, independent of other texts: its share of the highest '
'BM25 score that the words of the query can give, scaled from 0.08, which one chance word of '
'several reaches, to 0.68, which few right answers exceed (measured on questions about '
'conversations and about everyday facts, docs/performance.md). If words are the only evidence, '
'chance is 0: any match is better than none. Range 0..1; NULL for NULL.';
grant execute on function memory.words_score to memory_search;

create or replace function memory.weigh_evidence(
  meaning float8,
  words float8,
  meaning_weight float8,
  words_weight float8
)
  returns float8
  language sql
  immutable
  parallel safe
  return case
    when meaning is null then coalesce(words, 0)
    when words is null then meaning_weight * meaning
    else 1 - (1 - meaning_weight * meaning) * (
      1 - words * case
        when words_weight between 1e-9 and meaning_weight
        then power(words_weight, 1 - meaning * words)
        else words_weight
      end
    )
  end;

comment on function memory.weigh_evidence(float8, float8, float8, float8) is
'How well a memory matches by meaning and words together: a noisy or, in which either one adds to '
'the other, up to its weight. Words that weigh less than meaning weigh the more, the better both '
'fit: up to 1, if both fit entirely. If meaning is NULL, words alone count; if words is NULL, no '
'word matches. All of 0..1.';
grant execute on function memory.weigh_evidence to memory_search;

create or replace function memory.candidate_depth(max_results integer)
  returns integer
  language sql
  immutable
  parallel safe
  return greatest(2 * max_results, 20);

comment on function memory.candidate_depth(integer) is
'How many candidates to weigh for so many results: boosts may lift one that is not among these.';
grant execute on function memory.candidate_depth to memory_search;

create or replace function memory.required_evidence(
  min_evidence float8,
  documents bigint,
  in_general boolean default false
)
  returns float8
  language sql
  immutable
  parallel safe
  return least(
    1.0,
    min_evidence * (
      1 + case when in_general then 1.8 else 0.85 end
      * log(least(250.0::float8, greatest(1, documents)))
    )
  );

comment on function memory.required_evidence(float8, bigint, boolean) is
'The evidence that the best of so many memories must reach: the more memories, the better the best '
'one matches by chance. min_evidence for one, 1.85 times that for ten, 3 times for 250 and more. A '
'question in general (memory.asks_in_general), which a memory of somebody''s life rarely answers, '
'needs more: 2.8 times for ten, 5.3 times for 250. A further increase would cost right answers '
'(measured, docs/performance.md). Range 0..1.';
grant execute on function memory.required_evidence to memory_search;

create or replace function memory.required_relevance(
  min_relevance float8,
  required_evidence float8,
  best_evidence float8
)
  returns float8
  language sql
  immutable
  parallel safe
  return greatest(
    min_relevance, 0.7 * required_evidence * required_evidence / nullif(best_evidence, 0)
  );

comment on function memory.required_relevance(float8, float8, float8) is
'The relevance that a memory must reach next to the best one: 0.7 of the best if the best has just '
'enough evidence, and less the stronger the best is, down to min_relevance. All of 0..1.';
grant execute on function memory.required_relevance to memory_search;

create or replace function memory.composite_score(
  relevance float8,
  importance float8,
  recency float8,
  effective_confidence float8,
  weight_relevance float8 default 0.4,
  weight_importance float8 default 0.3,
  weight_recency float8 default 0.2,
  weight_confidence float8 default 0.1,
  sharpness float8 default 1
)
  returns float8
  language sql
  immutable
  parallel safe
  return (
    sharpness * weight_relevance * relevance
    + weight_importance * (importance / 10.0)
    + weight_recency * recency
    + weight_confidence * effective_confidence
  ) * case
    when sharpness = 1 then 1
    else (weight_relevance + weight_importance + weight_recency + weight_confidence)
      / (sharpness * weight_relevance + weight_importance + weight_recency + weight_confidence)
  end;

comment on function memory.composite_score(
  float8, float8, float8, float8, float8, float8, float8, float8, float8
) is
'The score that recall orders by: 0.4 relevance + 0.3 importance/10 + 0.2 recency + 0.1 effective '
'confidence, with the weights of the settings. Relevance, recency and confidence are in 0..1, '
'importance in 0..10. A sharpness above 1 multiplies the weight of relevance; the sum is then '
'scaled back to the total of the weights.';
grant execute on function memory.composite_score
to memory_search, memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.asymmetric_score(
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
grant execute on function memory.asymmetric_score
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.decays_until(
  lifecycle_state text,
  updated_at timestamptz,
  as_of timestamptz
)
  returns timestamptz
  language sql
  immutable
  parallel safe
  return case
    when lifecycle_state in ('superseded', 'expired') then least(updated_at, as_of)
    else as_of
  end;

comment on function memory.decays_until(text, timestamptz, timestamptz) is
'The time at which the confidence of a memory is taken: as_of, but what is history keeps the '
'confidence that it had when it became so.';
grant execute on function memory.decays_until to memory_search;

create or replace function memory.is_in_scope(
  memory_type text,
  memory_scope text,
  scope text
)
  returns boolean
  language sql
  immutable
  parallel safe
  return scope is null or memory_scope = scope
  or memory_scope = 'global' and memory_type <> 'episode';

comment on function memory.is_in_scope(text, text, text) is
'Whether a search in a scope finds a memory: all do without a scope; else those of the scope and '
'the global facts and rules, and of episodes those of this butler.';
grant execute on function memory.is_in_scope to memory_search;

commit;
