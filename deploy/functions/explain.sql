-- Deploy pymem:functions/explain to pg
-- requires: functions/search

begin;

-- memory.find_dropped belongs to memory_search: see functions/neighbours.

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

create function memory.find_dropped(
  memory_types text[],
  query text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  keyword_match text,
  as_of timestamptz
)
  returns table (
    memory_type text,
    id uuid,
    outcome text,
    similarity float8,
    rank float8
  )
  language plpgsql
  stable
  rows 50
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_query tsquery := (memory.read_query(query, keyword_match, v_settings)).condition;
begin
  return query
  with judged as (
    select
      m.memory_type,
      m.id,
      m.created_at,
      case
        when m.lifecycle_state = 'retracted' then 'forgotten'
        when m.lifecycle_state in ('superseded', 'expired') then m.lifecycle_state
        when m.expires_at <= as_of then 'expired'
        when m.scope <> find_dropped.scope and (m.scope <> 'global' or m.memory_type = 'episode')
        then 'other scope'
        when memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          < find_dropped.min_confidence
        then 'below confidence'
      end as outcome,
      1 - (m.embedding <=> find_dropped.embedding) as similarity,
      case when m.search_vector @@ v_query then ts_rank(m.search_vector, v_query)::float8 end
      as rank
    from memory.searchable_memories as m
    where m.tenant_id = v_settings.tenant_id
      and m.memory_type = any (find_dropped.memory_types)
  ),
  placed as (
    select
      j.*,
      row_number() over (
        partition by j.memory_type order by j.similarity desc nulls last, j.created_at desc, j.id
      ) as semantic_rank,
      row_number() over (
        partition by j.memory_type order by j.rank desc nulls last, j.created_at desc, j.id
      ) as keyword_rank
    from judged as j
    where j.outcome is not null
  )
  select
    p.memory_type, p.id, p.outcome, p.similarity,
    case when v_settings.keyword_ranker = 'ts_rank' then p.rank end
  from placed as p
  where p.similarity is not null and p.semantic_rank <= depth
    or p.rank is not null and p.keyword_rank <= depth;
end;
$$;

comment on function memory.find_dropped(
  text[], text, vector, text, integer, float8, text, timestamptz
) is
'The memories that either list would most likely hold if they were not forgotten, superseded, '
'expired, of another scope or too faint, in no order. Reads all of the tenant: a diagnosis, not '
'a search.';

set local role memory_owner;
revoke create on schema memory from memory_search;

create type memory.explained_memory as (
  position bigint,
  outcome text,
  memory_type text,
  id uuid,
  scope text,
  subject text,
  predicate text,
  content text,
  similarity float8,
  semantic_rank bigint,
  rank float8,
  keyword_rank bigint,
  rrf_score float8,
  neighbour_boost float8,
  session_boost float8,
  named_boost float8,
  relevance float8,
  importance float8,
  recency float8,
  effective_confidence float8,
  score float8
);

comment on type memory.explained_memory is
'A candidate of memory.recall, or what might have been one, and what became of it. The parts are '
'those of memory.ranked_memory.';
comment on column memory.explained_memory.position is
'Place in the order of the scores from 1; NULL for what was dropped.';
comment on column memory.explained_memory.outcome is
'returned, beyond limit, forgotten, superseded, expired, other scope or below confidence.';

create function memory.recall_explain(
  topic text,
  scope text default null,
  max_results integer default 10,
  types text[] default null,
  min_confidence float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns setof memory.explained_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_types text[] := memory.check_types(types);
  v_min_confidence float8 := coalesce(recall_explain.min_confidence, v_settings.min_confidence);
  v_limit integer := memory.check_limit(max_results);
  v_depth integer := greatest(v_limit, v_settings.candidate_pool);
begin
  perform memory.check_number('min_confidence', v_min_confidence, 0, 1);
  perform memory.check_query(topic);
  perform memory.check_query_embedding(embedding, embedding_version_id);
  perform memory.check_time('as_of', as_of);

  return query
  with listed as materialized (
    select f.*
    from memory.find_memories(
      v_types, 'hybrid', topic, recall_explain.embedding, recall_explain.scope, v_depth,
      v_min_confidence, v_settings.keyword_match, true, null, v_settings, as_of
    ) with ordinality as f
  ),
  -- The last of each list: what is dropped below it would not have been a candidate anyway.
  ends as (
    select
      t.type as memory_type,
      case
        when count(l.semantic_rank) = v_depth then min(l.similarity)
        else '-infinity'
      end as similarity,
      case when count(l.keyword_rank) = v_depth then min(l.rank) else '-infinity' end as rank
    from unnest(v_types) as t (type)
    left join listed as l on l.memory_type = t.type
    group by t.type
  ),
  dropped as (
    select d.*
    from memory.find_dropped(
      v_types, topic, recall_explain.embedding, recall_explain.scope, v_depth, v_min_confidence,
      v_settings.keyword_match, as_of
    ) as d
    join ends as e on e.memory_type = d.memory_type
    where d.similarity >= e.similarity or d.rank >= e.rank
      or d.rank is null and v_settings.keyword_ranker <> 'ts_rank'
  ),
  explained as (
    select
      l.ordinality as place,
      case when l.ordinality <= v_limit then 'returned' else 'beyond limit' end as outcome,
      l.memory_type, l.id, l.scope, l.subject, l.predicate, l.content, l.similarity,
      l.semantic_rank, l.rank, l.keyword_rank, l.rrf_score, l.neighbour_boost, l.session_boost,
      l.named_boost, l.relevance, l.importance, l.recency, l.effective_confidence, l.score
    from listed as l
    union all
    select
      null, d.outcome, d.memory_type, d.id, m.scope, m.subject, m.predicate, m.content,
      d.similarity, null, d.rank, null, null, null, null, null, null, m.importance,
      memory.recency_score(
        case
          when v_settings.recency_null = 'created_at'
          then coalesce(m.last_referenced_at, m.created_at)
          else m.last_referenced_at
        end,
        v_settings.recency_half_life_days,
        as_of
      ),
      memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of),
      null
    from dropped as d
    join memory.searchable_memories as m
      on m.tenant_id = v_settings.tenant_id and m.memory_type = d.memory_type and m.id = d.id
  )
  select x.*
  from explained as x
  order by
    x.place, x.outcome, x.similarity desc nulls last, x.rank desc nulls last, x.memory_type, x.id;
end;
$$;

comment on function memory.recall_explain(
  text, text, integer, text[], float8, vector, uuid, timestamptz
) is
'Why memory.recall returns what it returns: every candidate in the order of its score, with its '
'places in both lists, the scores behind them, boosts and the four parts of the composite score, '
'outcome "returned" or "beyond limit"; then, without places, what would have been a candidate but '
'for being "forgotten", "superseded", "expired", of "other scope" or "below confidence". (rank of '
'the dropped is NULL under BM25.) Arguments as memory.recall; only looks. Reads all of the '
'tenant''s memories of the types. Errors: PM002, PM004.';

commit;
