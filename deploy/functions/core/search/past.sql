-- Deploy pymem:functions/core/search/past to pg

begin;

set local role memory_owner;

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AM04,AM05,LT06,RF01,RF02,RF03,ST09
create or replace function memory.memories_at(
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
'The memories of the given types as they were at known_at, including those no longer live: current '
'rows that have not changed since, and history images of those that have. is_live, vectors and '
'counters are the current ones.';

create or replace function memory.find_memories_at(
  memory_types text[],
  query text,
  embedding vector,
  scope text,
  max_results integer,
  min_confidence float8,
  min_relevance float8,
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
  v_specified boolean := settings.ranking = 'specified';
  v_words memory.keyword_query := memory.read_query(
    query, case when v_specified then 'all' else settings.keyword_match end, settings
  );
  v_terms tsquery[] := array(
    select memory.one_lexeme(l.lexeme)
    from unnest(v_words.lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_scale memory.embedding_versions;
begin
  select v.* into v_scale
  from memory.embedding_versions as v
  where v.tenant_id = settings.tenant_id and v.status = 'active';

  return query
  with known as materialized (
    select
      m.memory_type, t.position as type_position, m.id, m.scope, m.subject, m.predicate, m.content,
      m.importance, m.confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
      m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at,
      case when m.last_referenced_at <= v_now then m.last_referenced_at end as last_referenced_at,
      m.reference_count, m.search_vector,
      c.effective_confidence,
      e.is_eligible,
      case when e.is_eligible then 1 - (m.embedding <=> find_memories_at.embedding) end
      as similarity
    from memory.memories_at(
      settings.tenant_id, memory_types, coalesce(known_at, 'infinity')
    ) as m
    join unnest(memory_types) with ordinality as t (type, position) on t.type = m.memory_type
    cross join lateral (
      -- A superseded fact keeps the confidence it had when it was superseded.
      select memory.effective_confidence(
        m.confidence, m.decay_rate, m.last_confirmed_at,
        case m.lifecycle_state when 'superseded' then least(m.updated_at, v_now) else v_now end
      ) as effective_confidence
    ) as c
    cross join lateral (
      select
        (m.expires_at is null or m.expires_at > v_now)
        and (
          find_memories_at.scope is null or m.scope = find_memories_at.scope
          or m.scope = 'global' and m.memory_type <> 'episode'
        )
        and c.effective_confidence >= find_memories_at.min_confidence as is_eligible
      offset 0 -- computes is_eligible only once
    ) as e
    where case m.memory_type
        when 'episode' then true
        when 'rule' then m.lifecycle_state <> 'retracted'
        else
          m.lifecycle_state in ('active', 'fading')
          and (valid_at is null or m.valid_from <= valid_at)
          and (valid_at is null or m.valid_to is null or m.valid_to > valid_at)
          or m.lifecycle_state = 'superseded'
          and m.valid_from <= valid_at and m.valid_to > valid_at
      end
  ),
  corpus as materialized (
    select
      k.memory_type,
      count(*) as documents,
      sum(count(*)) over () as all_documents,
      avg(length(k.search_vector))::float8 as average_terms
    from known as k
    group by k.memory_type
  ),
  occurrences as materialized (
    select
      k.memory_type, k.id, t.position,
      k.is_eligible and (v_words.all_terms is null or k.search_vector @@ v_words.condition)
      as is_match,
      memory.saturate_frequency(
        memory.term_frequency(k.search_vector, t.term),
        length(k.search_vector) / c.average_terms,
        settings.bm25_k1, settings.bm25_b
      ) as saturation
    from known as k
    join corpus as c on c.memory_type = k.memory_type
    join unnest(v_terms) with ordinality as t (term, position) on k.search_vector @@ t.term
  ),
  terms as materialized (
    select
      c.memory_type,
      t.position,
      memory.inverse_document_frequency(c.documents, count(o.id)) as weight
    from corpus as c
    cross join generate_subscripts(v_terms, 1) as t (position)
    left join occurrences as o on o.memory_type = c.memory_type and o.position = t.position
    group by c.memory_type, c.documents, t.position
  ),
  matches as (
    select
      o.memory_type, o.id,
      sum(t.weight * o.saturation) as weight,
      sum(t.weight * o.saturation) / (
        (settings.bm25_k1 + 1) * (
          select sum(a.weight) from terms as a where a.memory_type = o.memory_type
        )
      ) as share
    from occurrences as o
    join terms as t on t.memory_type = o.memory_type and t.position = o.position
    where o.is_match
    group by o.memory_type, o.id
  ),
  weighed as (
    select
      k.*,
      case
        when v_specified
        then case when m.id is not null then ts_rank(k.search_vector, v_words.condition)::float8 end
        else m.weight
      end as keyword_score,
      e.*
    from known as k
    left join matches as m on m.memory_type = k.memory_type and m.id = k.id
    cross join lateral (
      select
        memory.meaning_score(
          k.similarity, v_scale.similarity_floor, v_scale.similarity_ceiling
        ) as meaning,
        case
          when k.similarity is null then memory.words_score(m.share, 0)
          else memory.words_score(m.share)
        end as words
    ) as e
    where k.is_eligible
  ),
  placed as (
    select
      w.*,
      case when w.similarity is not null then row_number() over (
        partition by w.memory_type order by w.similarity desc nulls last, w.created_at desc, w.id
      ) end as semantic_rank,
      case when w.keyword_score is not null then row_number() over (
        partition by w.memory_type order by w.keyword_score desc nulls last, w.created_at desc, w.id
      ) end as keyword_rank,
      memory.weigh_evidence(w.meaning, w.words, s.meaning_weight, s.words_weight) as fit,
      max(memory.weigh_evidence(w.meaning, w.words, s.meaning_weight, settings.words_weight))
        over () as best_evidence
    from weighed as w
    cross join lateral (
      select
        case w.memory_type
          when 'episode' then settings.episode_meaning_weight else settings.meaning_weight
        end as meaning_weight,
        case w.memory_type
          when 'episode' then settings.episode_words_weight else settings.words_weight
        end as words_weight
    ) as s
  ),
  related as (
    select
      p.*,
      case when v_specified then r.rrf_score end as rrf_score,
      case
        when v_specified then memory.relevance_score(r.rrf_score)
        else p.fit
      end as relevance,
      c.required
    from placed as p
    cross join (
      select memory.required_evidence(settings.min_evidence, max(c.all_documents)::bigint)
      as required
      from corpus as c
    ) as c
    cross join lateral (
      select memory.rrf_score(
        case when p.semantic_rank <= max_results then p.semantic_rank end,
        case when p.keyword_rank <= max_results then p.keyword_rank end,
        max_results + 1
      ) as rrf_score
    ) as r
    where case
        when v_specified then p.semantic_rank <= max_results or p.keyword_rank <= max_results
        else
          find_memories_at.min_relevance is not null
          or p.best_evidence >= c.required
      end
  ),
  shortlist as (
    select r.*
    from related as r
    where r.relevance >= coalesce(
        find_memories_at.min_relevance,
        case
          when v_specified then 0
          else memory.required_relevance(settings.min_relevance, r.required, r.best_evidence)
        end
      )
    order by
      r.relevance desc, r.similarity desc nulls last, r.created_at desc, r.type_position, r.id
    limit case when not v_specified then max_results end
  )
  select
    s.memory_type, s.id, s.scope, s.subject, s.predicate, s.content, s.importance, s.confidence,
    s.effective_confidence, s.permanence, s.maturity, s.effectiveness_score, s.entity_id,
    s.session_id, s.tags, s.metadata, s.created_at, s.last_confirmed_at, s.last_referenced_at,
    s.reference_count,
    case when not v_specified or s.semantic_rank <= max_results then s.similarity end,
    case when v_specified and s.semantic_rank <= max_results then s.semantic_rank end,
    case when not v_specified or s.keyword_rank <= max_results then s.keyword_score end,
    case when v_specified and s.keyword_rank <= max_results then s.keyword_rank end,
    s.rrf_score, case when not v_specified then s.meaning end,
    case when not v_specified then s.words end, null::float8, null::float8, null::float8, null::float8,
    s.relevance, c.recency, null::uuid, c.score
  from shortlist as s
  cross join lateral (
    select memory.recency_score(
      case
        when settings.recency_null = 'created_at'
        then coalesce(s.last_referenced_at, s.created_at)
        else s.last_referenced_at
      end,
      settings.recency_half_life_days,
      v_now
    ) as recency
  ) as r
  cross join lateral (
    select
      r.recency,
      memory.composite_score(
        s.relevance, s.importance, r.recency, s.effective_confidence,
        settings.weight_relevance, settings.weight_importance,
        settings.weight_recency, settings.weight_confidence,
        case when v_specified then 1 else settings.relevance_sharpness end
      ) as score
  ) as c
  order by c.score desc, s.created_at desc, s.type_position, s.id
  limit max_results;
end;
$$;

comment on function memory.find_memories_at(
  text[], text, vector, text, integer, float8, float8, memory.settings, timestamptz, timestamptz,
  timestamptz
) is
'What memory.find_memories would have found at known_at. With valid_at, only the facts that were '
'valid in the world then, superseded ones included. Relevance and composite score are computed the '
'same way, but boosts, updates and indexes do not apply to the past: this compares all of the '
'tenant''s memories of the types, and weighs words by how many of these contain them.';

commit;
