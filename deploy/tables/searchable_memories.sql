-- Deploy pymem:tables/searchable_memories to pg
-- requires: tables/episodes
-- requires: tables/facts
-- requires: tables/rules

begin;

set local role memory_owner;

create view memory.searchable_memories
with (security_invoker = true)
as
select
  'episode'::text as memory_type,
  e.tenant_id,
  e.id,
  e.butler as scope,
  null::text as subject,
  null::text as predicate,
  e.content,
  e.importance,
  1.0::float8 as confidence,
  0.0::float8 as decay_rate,
  null::text as permanence,
  null::text as maturity,
  null::float8 as effectiveness_score,
  null::uuid as entity_id,
  e.session_id,
  '[]'::jsonb as tags,
  e.metadata,
  e.created_at,
  null::timestamptz as last_confirmed_at,
  e.last_referenced_at,
  e.reference_count,
  e.updated_at,
  null::timestamptz as valid_from,
  null::timestamptz as valid_to,
  e.expires_at,
  e.embedding,
  e.search_vector,
  e.lifecycle_state,
  true as is_live
from memory.episodes as e
union all
select
  'fact'::text,
  f.tenant_id,
  f.id,
  f.scope,
  f.subject,
  f.predicate,
  f.content,
  f.importance,
  f.confidence,
  f.decay_rate,
  f.permanence,
  null::text,
  null::float8,
  f.entity_id,
  null::uuid,
  f.tags,
  f.metadata,
  f.created_at,
  f.last_confirmed_at,
  f.last_referenced_at,
  f.reference_count,
  f.updated_at,
  f.valid_from,
  f.valid_to,
  null::timestamptz,
  f.embedding,
  f.search_vector,
  f.lifecycle_state,
  f.validity = 'active' as is_live
from memory.facts as f
union all
select
  'rule'::text,
  r.tenant_id,
  r.id,
  r.scope,
  null::text,
  null::text,
  r.content,
  r.importance,
  r.confidence,
  r.decay_rate,
  r.permanence,
  r.maturity,
  r.effectiveness_score,
  null::uuid,
  null::uuid,
  r.tags,
  r.metadata,
  r.created_at,
  r.last_confirmed_at,
  r.last_referenced_at,
  r.reference_count,
  r.updated_at,
  null::timestamptz,
  null::timestamptz,
  null::timestamptz,
  r.embedding,
  r.search_vector,
  r.lifecycle_state,
  r.lifecycle_state <> 'retracted' as is_live
from memory.rules as r;

comment on view memory.searchable_memories is
'Episodes, facts and rules in one shape: what search reads. is_live: an active fact, a rule not '
'forgotten; a column and not a condition, because only branches without one can use a vector '
'index. expires_at (episodes only) is for the reader to compare with its time. The scope of an '
'episode is its butler.';

create type memory.candidate as (
  id uuid,
  weight float8,
  created_at timestamptz
);

comment on type memory.candidate is
'A memory in one ranked list: by similarity or by keyword rank (weight), the greater the better.';

create type memory.word_match as (
  memory_type text,
  id uuid,
  created_at timestamptz,
  weight float8,
  share float8
);

comment on type memory.word_match is
'A memory that holds words of a query: its BM25 (weight), and which share that is of what the '
'words of the query could give, 0..1.';

create type memory.ranked_memory as (
  memory_type text,
  id uuid,
  scope text,
  subject text,
  predicate text,
  content text,
  importance float8,
  confidence float8,
  effective_confidence float8,
  permanence text,
  maturity text,
  effectiveness_score float8,
  entity_id uuid,
  session_id uuid,
  tags jsonb,
  metadata jsonb,
  created_at timestamptz,
  last_confirmed_at timestamptz,
  last_referenced_at timestamptz,
  reference_count integer,
  similarity float8,
  semantic_rank bigint,
  rank float8,
  keyword_rank bigint,
  rrf_score float8,
  meaning float8,
  words float8,
  neighbor_boost float8,
  session_boost float8,
  named_boost float8,
  time_boost float8,
  relevance float8,
  recency float8,
  updates_id uuid,
  score float8
);

comment on type memory.ranked_memory is
'A memory that was found, with every part of its score.';
comment on column memory.ranked_memory.scope is 'Scope of a fact or rule, butler of an episode.';
comment on column memory.ranked_memory.effective_confidence is
'Confidence after decay, 0..1; 1 for an episode.';
comment on column memory.ranked_memory.similarity is
'Cosine similarity to the query, -1..1; NULL without a vector, or if not in the semantic list.';
comment on column memory.ranked_memory.semantic_rank is
'Rank in the semantic list from 1; NULL if not in it or where there is none.';
comment on column memory.ranked_memory.rank is
'ts_rank or BM25 of the keyword match, from 0; NULL if no word matches.';
comment on column memory.ranked_memory.keyword_rank is
'Rank in the keyword list from 1; NULL if not in it or where there is none.';
comment on column memory.ranked_memory.rrf_score is
'Reciprocal rank fusion of both ranks; NULL where nothing is fused.';
comment on column memory.ranked_memory.meaning is
'How well it fits by meaning (memory.meaning_score), 0..1; NULL without a vector.';
comment on column memory.ranked_memory.words is
'How well it fits by words (memory.words_score), 0..1; NULL if no word matches.';
comment on column memory.ranked_memory.neighbor_boost is
'What the turn before or after it takes of the doubt about its relevance, 0..1.';
comment on column memory.ranked_memory.session_boost is
'What the best of its session take of the doubt about its relevance, 0..1.';
comment on column memory.ranked_memory.named_boost is
'What being named by the query takes of the doubt about its relevance, 0..1.';
comment on column memory.ranked_memory.time_boost is
'What being of a time that the query names takes of the doubt about its relevance, 0..1.';
comment on column memory.ranked_memory.relevance is
'How well it fits the query, 0..1, whatever else was found; NULL where only lists are asked for.';
comment on column memory.ranked_memory.recency is 'Recency score, 0..1; NULL outside recall.';
comment on column memory.ranked_memory.updates_id is
'The older fact that this one seems to bring up to date, and whose score it takes.';
comment on column memory.ranked_memory.score is
'What the answer is ordered by: similarity, rank, rrf_score, relevance or, in recall, the '
'composite score.';

commit;
