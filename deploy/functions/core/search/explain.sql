-- Deploy pymem:functions/core/search/explain to pg

begin;

-- memory_search owns memory.find_dropped: see neighbors.sql.

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.find_dropped(
  memory_types text[],
  query text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    memory_type text,
    id uuid,
    outcome text,
    similarity float8,
    keyword_score float8
  )
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_query tsquery := (
    memory.read_query(
      query,
      case when settings.ranking = 'specified' then 'all' else settings.keyword_match end,
      settings
    )
  ).condition;
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
        when not memory.is_in_scope(m.memory_type, m.scope, find_dropped.scope) then 'other scope'
        when memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          < find_dropped.min_confidence
        then 'below confidence'
      end as outcome,
      1 - (m.embedding <=> find_dropped.embedding) as similarity,
      case when m.search_vector @@ v_query then ts_rank(m.search_vector, v_query)::float8 end
      as keyword_score
    from memory.searchable_memories as m
    where m.tenant_id = settings.tenant_id
      and m.memory_type = any (find_dropped.memory_types)
      and m.is_guarded is not true
  ),
  placed as (
    select
      j.*,
      row_number() over (
        partition by j.memory_type order by j.similarity desc nulls last, j.created_at desc, j.id
      ) as semantic_rank,
      row_number() over (
        partition by j.memory_type order by j.keyword_score desc nulls last, j.created_at desc, j.id
      ) as keyword_rank
    from judged as j
    where j.outcome is not null
  )
  select p.memory_type, p.id, p.outcome, p.similarity, p.keyword_score
  from placed as p
  where p.similarity is not null and p.semantic_rank <= depth
    or p.keyword_score is not null and p.keyword_rank <= depth;
end;
$$;

comment on function memory.find_dropped(
  text[], text, vector, text, integer, float8, memory.settings, timestamptz
) is
'The best matches by meaning and by words, up to depth each per type, among the memories that '
'search excludes: forgotten, superseded, expired, of another scope or below confidence; unordered. '
'Reads every memory of the tenant: for diagnosis, not for searching.';
grant execute on function memory.find_dropped to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.recall_explain(
  topic text,
  scope text default null,
  max_results integer default 10,
  types text[] default null,
  min_confidence float8 default null,
  min_relevance float8 default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  settings jsonb default null,
  known_at timestamptz default null,
  valid_at timestamptz default null,
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
  v_settings memory.settings := case
    when recall_explain.settings is null then memory.current_settings()
    else memory.try_settings(memory.current_settings(), recall_explain.settings)
  end;
  v_types text[] := memory.check_types(types);
  v_min_confidence float8 := coalesce(recall_explain.min_confidence, v_settings.min_confidence);
  v_scope text := memory.visible_scope(scope);
  v_relations memory.relations := memory.read_relations(
    memory.correct_spelling(topic, v_scope, v_settings, as_of), v_scope, v_settings
  );
  v_limit integer := memory.check_limit(max_results);
  v_depth integer := case
    when v_settings.ranking = 'specified' then v_limit else greatest(2 * v_limit, 20)
  end;
begin
  perform memory.check_number('min_confidence', v_min_confidence, 0, 1);
  perform memory.check_number('min_relevance', coalesce(recall_explain.min_relevance, 0), 0, 1);
  perform memory.check_query(topic);
  perform memory.check_query_embedding(embedding, embedding_version_id);
  perform memory.check_time('as_of', as_of);

  if known_at is not null or valid_at is not null then
    perform
      memory.check_time('known_at', coalesce(known_at, as_of)),
      memory.check_time('valid_at', coalesce(valid_at, as_of));
    return query
    with returned as materialized (
      select f.*
      from memory.find_memories_at(
        v_types, topic, recall_explain.embedding, v_scope, v_limit, v_min_confidence,
        recall_explain.min_relevance, v_settings, known_at, valid_at, as_of
      ) with ordinality as f
    ),
    outcomes as (
      select r.*, 'returned' as outcome
      from returned as r
      union all
      select f.*, null, 'beyond limit'
      from memory.find_memories_at(
        v_types, topic, recall_explain.embedding, v_scope, v_depth, v_min_confidence,
        recall_explain.min_relevance, v_settings, known_at, valid_at, as_of
      ) as f
      where not exists (
        select from returned as r where r.memory_type = f.memory_type and r.id = f.id
      )
    )
    select
      o.ordinality, o.outcome, o.memory_type, o.id, o.scope, o.subject, o.predicate, o.content,
      o.similarity, o.semantic_rank, o.keyword_score, o.keyword_rank, o.rrf_score, o.meaning,
      o.words, o.neighbor_boost, o.session_boost, o.named_boost, o.time_boost, o.relevance,
      o.importance, o.recency, o.effective_confidence, o.updates_id,
      case when o.ordinality is not null then o.score end
    from outcomes as o
    order by
      o.ordinality, o.relevance desc nulls last, o.similarity desc nulls last,
      o.keyword_score desc nulls last, o.memory_type, o.id;
    return;
  end if;

  return query
  with returned as materialized (
    select f.*
    from memory.find_memories(
      v_types, 'hybrid', topic, recall_explain.embedding, v_scope, v_limit,
      v_min_confidence, recall_explain.min_relevance, null, false, true, v_settings, as_of
    ) with ordinality as f
  ),
  rest as materialized (
    select c.*
    from memory.list_candidates(
      v_types, 'hybrid', v_relations, recall_explain.embedding, v_scope, v_depth, v_min_confidence,
      recall_explain.min_relevance, null, false, v_settings, as_of
    ) as c
    where not exists (
      select from returned as r where r.memory_type = c.memory_type and r.id = c.id
    )
  ),
  -- A dropped memory that fits worse than every returned one would not be returned anyway.
  dropped as (
    select d.*
    from memory.find_dropped(
      v_types, topic, recall_explain.embedding, v_scope, v_depth, v_min_confidence,
      v_settings, as_of
    ) as d
    where (
        d.keyword_score is not null
        or d.similarity >= (
          select case when count(*) = v_limit then min(r.similarity) else '-infinity' end
          from returned as r
        )
      )
      -- A question about the past finds what is over.
      and not exists (
        select from returned as r where r.memory_type = d.memory_type and r.id = d.id
      )
  ),
  outcomes as (
    select
      r.ordinality as place, 'returned' as outcome, r.memory_type, r.id, r.similarity,
      r.semantic_rank, r.keyword_score, r.keyword_rank, r.rrf_score, r.meaning, r.words, r.neighbor_boost,
      r.session_boost, r.named_boost, r.time_boost, r.relevance, r.updates_id, r.score
    from returned as r
    union all
    select
      null, coalesce(c.outcome, 'beyond limit'), c.memory_type, c.id, c.similarity,
      c.semantic_rank, c.keyword_score, c.keyword_rank, c.rrf_score, c.meaning, c.words, c.neighbor_boost,
      c.session_boost, c.named_boost, c.time_boost, c.relevance, null, null
    from rest as c
    union all
    select
      null, d.outcome, d.memory_type, d.id, d.similarity, null, d.keyword_score, null, null, null, null,
      null, null, null, null, null, null, null
    from dropped as d
  )
  select
    o.place, o.outcome, o.memory_type, o.id, m.scope, m.subject, m.predicate, m.content,
    o.similarity, o.semantic_rank, o.keyword_score, o.keyword_rank, o.rrf_score, o.meaning, o.words,
    o.neighbor_boost, o.session_boost, o.named_boost, o.time_boost, o.relevance, m.importance,
    memory.recency_of(m.last_referenced_at, m.created_at, v_settings, as_of),
    memory.effective_confidence(
      m.confidence, m.decay_rate, m.last_confirmed_at,
      memory.decays_until(m.lifecycle_state, m.updated_at, as_of)
    ),
    o.updates_id, o.score
  from outcomes as o
  join memory.searchable_memories as m
    on m.tenant_id = v_settings.tenant_id and m.memory_type = o.memory_type and m.id = o.id
  order by
    o.place,
    array_position(array['beyond limit', 'below relevance', 'no match'], o.outcome), o.outcome,
    o.relevance desc nulls last, o.similarity desc nulls last, o.keyword_score desc nulls last,
    o.memory_type, o.id;
end;
$$;

comment on function memory.recall_explain(
  text, text, integer, text[], float8, float8, vector, uuid, jsonb, timestamptz, timestamptz,
  timestamptz
) is
'Why memory.recall returns what it returns: its answer, in order, with every part of the scores; '
'then the other candidates, most relevant first, and why they are not in it; then what is not '
'considered at all though it might fit: forgotten, superseded, expired, of another scope or below '
'confidence (keyword_score: ts_rank). settings: what to try instead of the tenant''s settings, as '
'in memory.configure, without storing it. With known_at or valid_at, only what was relevant then. '
'Other arguments as memory.recall; changes nothing. Reads all memories of the types. Errors: '
'PM002, PM004.';
grant execute on function memory.recall_explain to memory_writer, memory_reader;

commit;
