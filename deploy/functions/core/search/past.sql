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
  cross join lateral jsonb_populate_record(
    s,
    h.image || case
      when h.memory_type = 'entry' or h.image ->> 'content' <> s.content
      then jsonb_build_object(
        'search_vector',
        memory.to_search_vector(
          memory.text_search_config_of(h.tenant_id),
          case h.memory_type
            when 'entry'
            then memory.render_entry(
              h.image ->> 'content', h.image -> 'tags', h.image -> 'keywords'
            )
            else memory.render_memory(h.memory_type, h.image ->> 'content')
          end
        )::text
      )
      else '{}'
    end || case
      when h.image ->> 'content' <> s.content then '{"embedding": null}'::jsonb else '{}'
    end
  ) as r
  where h.tenant_id = memories_at.tenant_id
    and h.memory_type = any (memory_types)
    and h.known_from <= known_at
    and h.known_to > known_at;
end;

-- noqa: enable=AM04,AM05,LT06,RF01,RF02,RF03,ST09

comment on function memory.memories_at(text, text[], timestamptz) is
'The memories of the given types as they were at known_at, including those no longer live: current '
'rows that have not changed since, and history images of those that have. is_live and counters are '
'the current ones; so are the vectors, except that a text that was edited since is found by its '
'words only.';

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
  set jit = off -- compiling costs more than it saves
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_now timestamptz := coalesce(known_at, as_of);
  v_specified boolean := settings.ranking = 'specified';
  v_relations memory.relations := memory.read_relations(query, find_memories_at.scope, settings);
  v_words memory.keyword_query := memory.read_query(
    v_relations.query, case when v_specified then 'all' else settings.keyword_match end, settings
  );
  v_terms tsquery[] := array(
    select memory.one_lexeme(l.lexeme)
    from unnest(v_words.lexemes) with ordinality as l (lexeme, position)
    order by l.position
  );
  v_question memory.question := memory.read_question(
    v_relations, v_words, find_memories_at.scope, settings, as_of
  );
  v_scale memory.embedding_versions;
begin
  select v.* into v_scale
  from memory.embedding_versions as v
  where v.tenant_id = settings.tenant_id and v.status = 'active';

  return query
  with plans as materialized (
    select
      p.planned_for, p.scope, p.entity_id, memory.spelling_key(p.subject) as subject_key,
      memory.predicate_key(p.predicate) as predicate_key
    from memory.memories_at(settings.tenant_id, '{fact}', coalesce(known_at, 'infinity')) as p
    where valid_at is not null and p.planned_for is not null
      and p.lifecycle_state in ('active', 'fading')
  ),
  known as materialized (
    select
      m.memory_type, t.position as type_position, m.id, m.scope, m.subject, m.predicate, m.content,
      m.importance, m.confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
      m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at,
      case when m.last_referenced_at <= v_now then m.last_referenced_at end as last_referenced_at,
      m.reference_count,
      case when m.planned_for > coalesce(valid_at, v_now) then m.planned_for end as planned_for,
      m.valid_to,
      m.search_vector,
      c.effective_confidence,
      e.is_eligible,
      case when e.is_eligible then 1 - (m.embedding <=> find_memories_at.embedding) end
      as similarity
    from memory.memories_at(
      settings.tenant_id, memory_types, coalesce(known_at, 'infinity')
    ) as m
    join unnest(memory_types) with ordinality as t (type, position) on t.type = m.memory_type
    cross join lateral (
      select memory.effective_confidence(
        m.confidence, m.decay_rate, m.last_confirmed_at,
        memory.decays_until(m.lifecycle_state, m.updated_at, v_now)
      ) as effective_confidence
    ) as c
    cross join lateral (
      select
        (m.expires_at is null or m.expires_at > v_now)
        and memory.is_in_scope(m.memory_type, m.scope, find_memories_at.scope)
        and c.effective_confidence >= find_memories_at.min_confidence as is_eligible
      offset 0 -- computes is_eligible only once
    ) as e
    where case m.memory_type
        when 'episode' then true
        when 'rule' then m.lifecycle_state <> 'retracted'
        when 'entry' then m.lifecycle_state = 'active'
        else
          m.lifecycle_state in ('active', 'fading')
          and (valid_at is null or m.valid_from <= valid_at)
          and (valid_at is null or m.valid_to is null or m.valid_to > valid_at)
          -- What is planned takes the place of what holds until then.
          and not exists (
            select from plans as p
            where p.planned_for > m.valid_from and p.planned_for <= valid_at
              and p.scope = m.scope and p.predicate_key = memory.predicate_key(m.predicate)
              and case
                when p.entity_id is null
                then m.entity_id is null and p.subject_key = memory.spelling_key(m.subject)
                else p.entity_id = m.entity_id
              end
          )
          or m.lifecycle_state in ('superseded', 'expired')
          and m.valid_from <= valid_at and m.valid_to > valid_at
      end
  ),
  corpus as materialized (
    select
      k.memory_type,
      count(*) as documents,
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
  scored as materialized (
    select
      k.memory_type, k.type_position, k.id, k.created_at, k.similarity,
      case
        when v_specified
        then case when m.id is not null then ts_rank(k.search_vector, v_words.condition)::float8 end
        else m.weight
      end as keyword_score,
      memory.meaning_score(
        k.similarity, v_scale.similarity_floor, v_scale.similarity_ceiling
      ) as meaning,
      case
        when k.similarity is null then memory.words_score(m.share, 0)
        else memory.words_score(m.share)
      end as words
    from known as k
    left join matches as m on m.memory_type = k.memory_type and m.id = k.id
    where k.is_eligible
  ),
  -- As memory.weigh_memories weighs what is known today.
  weighed as materialized (
    select array_agg(
      row(
        w.memory_type, w.type_position, w.id, w.created_at, w.similarity, null, w.keyword_score,
        null, null, w.meaning, w.words, null, null, null, null, w.relevance, null, null
      )::memory.fused_candidate
    ) as candidates
    from (
      select
        s.*,
        memory.weigh_evidence(
          s.meaning, s.words,
          case s.memory_type
            when 'episode' then settings.episode_meaning_weight else settings.meaning_weight
          end,
          case s.memory_type
            when 'episode' then settings.episode_words_weight else settings.words_weight
          end
        ) as relevance
      from scored as s
      where not v_specified
      order by
        relevance desc, s.similarity desc nulls last, s.created_at desc, s.type_position, s.id
      limit greatest(settings.candidate_pool, memory.candidate_depth(max_results))
    ) as w
  ),
  -- As memory.fuse_lists fuses the lists of today.
  placed as (
    select
      s.*,
      case when s.similarity is not null then row_number() over (
        partition by s.memory_type order by s.similarity desc nulls last, s.created_at desc, s.id
      ) end as semantic_rank,
      case when s.keyword_score is not null then row_number() over (
        partition by s.memory_type order by s.keyword_score desc nulls last, s.created_at desc, s.id
      ) end as keyword_rank
    from scored as s
    where v_specified
  ),
  shortlist as (
    (
      select j.*
      from weighed as w
      cross join (
        select sum(c.documents)::bigint as documents
        from corpus as c
      ) as e
      cross join lateral memory.judge_candidates(
        w.candidates, v_question, e.documents,
        find_memories_at.min_relevance, settings, null
      ) as j
      where j.outcome is null
      order by
        j.relevance desc, j.similarity desc nulls last, j.created_at desc, j.type_position, j.id
      limit max_results
    )
    union all
    select
      l.memory_type, l.type_position, l.id, l.created_at,
      case when l.semantic_rank is not null then l.similarity end, l.semantic_rank,
      case when l.keyword_rank is not null then l.keyword_score end, l.keyword_rank,
      r.rrf_score, null, null, null, null, null, null, r.relevance, null, null
    from (
      select
        p.memory_type, p.type_position, p.id, p.created_at, p.similarity, p.keyword_score,
        case when p.semantic_rank <= max_results then p.semantic_rank end as semantic_rank,
        case when p.keyword_rank <= max_results then p.keyword_rank end as keyword_rank
      from placed as p
    ) as l
    cross join lateral (
      select
        f.rrf_score, memory.relevance_score(f.rrf_score) as relevance
      from memory.rrf_score(l.semantic_rank, l.keyword_rank, max_results + 1) as f (rrf_score)
    ) as r
    where coalesce(l.semantic_rank, l.keyword_rank) is not null
      and r.relevance >= coalesce(find_memories_at.min_relevance, 0)
  ),
  answers as materialized (
    select
      k.*, s.similarity as shown_similarity, s.semantic_rank, s.keyword_score, s.keyword_rank,
      s.rrf_score, s.meaning, s.words, s.neighbor_boost, s.session_boost, s.named_boost,
      s.time_boost, s.relevance, r.recency,
      memory.composite_score(
        s.relevance, k.importance, r.recency, k.effective_confidence,
        settings.weight_relevance, settings.weight_importance,
        settings.weight_recency, settings.weight_confidence,
        case when v_specified then 1 else settings.relevance_sharpness end
      ) as score,
      memory.predicate_key(k.predicate) as predicate_key,
      coalesce(k.entity_id::text, memory.spelling_key(k.subject)) as anchor
    from shortlist as s
    join known as k on k.memory_type = s.memory_type and k.id = s.id
    cross join lateral (
      select memory.recency_of(k.last_referenced_at, k.created_at, settings, v_now) as recency
    ) as r
  ),
  -- As memory.find_memories ranks what is planned.
  turns as (
    select l.id, count(*) as place, min(e.score) as score
    from answers as e
    join answers as l
      on e.memory_type = 'fact' and l.memory_type = 'fact' and e.scope = l.scope
      and e.anchor = l.anchor and e.predicate_key = l.predicate_key
      and coalesce(e.planned_for, '-infinity') < l.planned_for
    group by l.id
  )
  select
    a.memory_type, a.id, a.scope, a.subject, a.predicate, a.content, a.importance, a.confidence,
    a.effective_confidence, a.permanence, a.maturity, a.effectiveness_score, a.entity_id,
    a.session_id, a.tags, a.metadata, a.created_at, a.last_confirmed_at, a.last_referenced_at,
    a.reference_count, a.planned_for, a.valid_to, a.shown_similarity, a.semantic_rank,
    a.keyword_score, a.keyword_rank, a.rrf_score, a.meaning, a.words, a.neighbor_boost,
    a.session_boost, a.named_boost, a.time_boost, a.relevance, a.recency, null::uuid, p.score
  from answers as a
  left join turns as t on a.memory_type = 'fact' and t.id = a.id
  cross join lateral (select least(a.score, t.score) as score) as p
  order by p.score desc, coalesce(t.place, 0), a.created_at desc, a.type_position, a.id
  limit max_results;
end;
$$;

comment on function memory.find_memories_at(
  text[], text, vector, text, integer, float8, float8, memory.settings, timestamptz, timestamptz,
  timestamptz
) is
'What memory.find_memories would have found at known_at. With valid_at, only the facts that were '
'valid in the world then, superseded and expired ones included. Relevance, boosts and composite '
'score are computed the same way, but they alone, and what is planned, decide on the order: not '
'news, nor who is asked about. No index applies to the past: this compares all memories of the '
'types, and weighs words by how many of them contain the word.';

commit;
