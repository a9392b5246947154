-- Deploy pymem:functions/past to pg
-- requires: tables/history
-- requires: functions/search

begin;

set local role memory_owner;

-- Written so that the planner makes it part of the query that calls it.
-- noqa: disable=AM04,AM05,LT06,RF01,RF02,RF03,ST09
create function memory.memories_at(
  tenant_id text,
  memory_types text[],
  known_at timestamptz
)
  returns setof memory.searchable_memories
  language sql
  stable
begin atomic
  select s.*
  from memory.searchable_memories as s
  where s.tenant_id = memories_at.tenant_id
    and s.memory_type = any (memory_types)
    and s.updated_at <= known_at
  union all
  select r.*
  from memory.memory_history as h
  join memory.searchable_memories as s
    on s.tenant_id = h.tenant_id and s.memory_type = h.memory_type and s.id = h.memory_id
  cross join lateral jsonb_populate_record(s, h.image) as r
  where h.tenant_id = memories_at.tenant_id
    and h.memory_type = any (memory_types)
    and h.known_from <= known_at
    and h.known_to > known_at;
end;
-- noqa: enable=AM04,AM05,LT06,RF01,RF02,RF03,ST09

comment on function memory.memories_at(text, text[], timestamptz) is
'The memories of some types as they were at a time, dead ones included: rows that have not changed '
'since, and images of those that have. is_live, vectors and counters are those of today.';

create function memory.find_memories_at(
  memory_types text[],
  query text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  keyword_match text,
  max_results integer,
  settings memory.settings,
  known_at timestamptz,
  valid_at timestamptz,
  as_of timestamptz
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan
  set jit = off
as $$
#variable_conflict use_column
declare
  v_now timestamptz := coalesce(known_at, as_of);
  v_query tsquery := (memory.read_query(query, keyword_match, settings)).condition;
begin
  return query
  with known as (
    select
      m.memory_type, t.position as type_position, m.id, m.scope, m.subject, m.predicate, m.content,
      m.importance, m.confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
      m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at,
      case when m.last_referenced_at <= v_now then m.last_referenced_at end as last_referenced_at,
      m.reference_count,
      c.effective_confidence,
      1 - (m.embedding <=> find_memories_at.embedding) as similarity,
      case when m.search_vector @@ v_query then ts_rank(m.search_vector, v_query)::float8 end
      as rank
    from memory.memories_at(
      settings.tenant_id, memory_types, coalesce(known_at, 'infinity')
    ) as m
    join unnest(memory_types) with ordinality as t (type, position) on t.type = m.memory_type
    cross join lateral (
      -- What was superseded is as sure as it was then.
      select memory.effective_confidence(
        m.confidence, m.decay_rate, m.last_confirmed_at,
        case m.lifecycle_state when 'superseded' then least(m.updated_at, v_now) else v_now end
      ) as effective_confidence
    ) as c
    where case m.memory_type
        when 'episode' then m.expires_at is null or m.expires_at > v_now
        when 'rule' then m.lifecycle_state <> 'retracted'
        else
          m.lifecycle_state in ('active', 'fading')
          and (valid_at is null or m.valid_from <= valid_at)
          and (valid_at is null or m.valid_to is null or m.valid_to > valid_at)
          or m.lifecycle_state = 'superseded'
          and m.valid_from <= valid_at and m.valid_to > valid_at
      end
      and (
        find_memories_at.scope is null or m.scope = find_memories_at.scope
        or m.scope = 'global' and m.memory_type <> 'episode'
      )
      and c.effective_confidence >= find_memories_at.min_confidence
  ),
  placed as (
    select
      k.*,
      case when k.similarity is not null then row_number() over (
        partition by k.memory_type order by k.similarity desc nulls last, k.created_at desc, k.id
      ) end as semantic_rank,
      case when k.rank is not null then row_number() over (
        partition by k.memory_type order by k.rank desc nulls last, k.created_at desc, k.id
      ) end as keyword_rank
    from known as k
  ),
  listed as (
    select
      p.*,
      case when p.semantic_rank <= depth then p.semantic_rank end as listed_semantic_rank,
      case when p.keyword_rank <= depth then p.keyword_rank end as listed_keyword_rank
    from placed as p
    where p.semantic_rank <= depth or p.keyword_rank <= depth
  ),
  scored as (
    select
      l.*,
      r.rrf_score,
      memory.relevance_score(
        r.rrf_score, settings.rrf_k,
        case when settings.relevance_scale = 'range' then depth + 1 end
      ) as relevance,
      memory.recency_score(
        case
          when settings.recency_null = 'created_at'
          then coalesce(l.last_referenced_at, l.created_at)
          else l.last_referenced_at
        end,
        settings.recency_half_life_days,
        v_now
      ) as recency
    from listed as l
    cross join lateral (
      select memory.rrf_score(
        l.listed_semantic_rank, l.listed_keyword_rank, depth + 1, settings.rrf_k
      ) as rrf_score
    ) as r
  )
  select
    s.memory_type, s.id, s.scope, s.subject, s.predicate, s.content, s.importance, s.confidence,
    s.effective_confidence, s.permanence, s.maturity, s.effectiveness_score, s.entity_id,
    s.session_id, s.tags, s.metadata, s.created_at, s.last_confirmed_at, s.last_referenced_at,
    s.reference_count,
    case when s.listed_semantic_rank is not null then s.similarity end, s.listed_semantic_rank,
    case when s.listed_keyword_rank is not null then s.rank end, s.listed_keyword_rank,
    s.rrf_score, null::float8, null::float8, null::float8, s.relevance, s.recency, c.score
  from scored as s
  cross join lateral (
    select memory.composite_score(
      s.relevance, s.importance, s.recency, s.effective_confidence,
      settings.weight_relevance, settings.weight_importance,
      settings.weight_recency, settings.weight_confidence
    ) as score
  ) as c
  order by c.score desc, s.created_at desc, s.type_position, s.id
  limit max_results;
end;
$$;

comment on function memory.find_memories_at(
  text[], text, vector, text, integer, float8, text, integer, memory.settings, timestamptz,
  timestamptz, timestamptz
) is
'What memory.find_memories would have found at known_at, among what held in the world at valid_at: '
'with valid_at also superseded facts, and only those facts that hold then. The same lists, fusion '
'by ranks and composite score; fusion of scores, BM25 and boosts do not look into the past, nor do '
'indexes: it compares all of the tenant''s memories of the types.';

commit;
