-- Deploy pymem:functions/core/search/find_memories to pg

begin;

-- memory_search owns the functions in this file: see neighbors.sql.

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.replaced_by_news(news_id uuid)
  returns uuid
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  with recursive replaced as (
    select p.id, p.supersedes_id, memory.tells_update(p.content) as is_news, 1 as steps
    from memory.facts as n
    join memory.facts as p on p.tenant_id = n.tenant_id and p.id = n.supersedes_id
    where n.tenant_id = memory.current_tenant() and n.id = news_id
    union all
    select p.id, p.supersedes_id, memory.tells_update(p.content), r.steps + 1
    from replaced as r
    join memory.facts as p
      on p.tenant_id = memory.current_tenant() and p.id = r.supersedes_id
    where r.is_news and r.steps < 16
  )
  select r.id from replaced as r where not r.is_news;
$$;

comment on function memory.replaced_by_news(uuid) is
'The fact that a fact which reports news (memory.tells_update) has superseded: itself, or through '
'up to 15 other news. NULL if there is none.';

create or replace function memory.former_facts(
  fact_ids uuid[],
  held tstzmultirange
)
  returns table (
    id uuid,
    successor_id uuid,
    place bigint
  )
  language sql
  stable
  rows 10
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan
as $$
  select distinct on (p.id)
    p.id, s.id, row_number() over (partition by s.id order by p.valid_to desc, p.id)
  from memory.facts as s
  cross join lateral (
    select f.id, f.scope, f.predicate_key, f.validity, f.valid_from, f.valid_to
    from memory.facts as f
    where f.tenant_id = s.tenant_id and f.subject_key = s.subject_key
      and f.predicate_key = s.predicate_key and f.entity_id is null and s.entity_id is null
    union all
    select f.id, f.scope, f.predicate_key, f.validity, f.valid_from, f.valid_to
    from memory.facts as f
    where f.tenant_id = s.tenant_id and f.entity_id = s.entity_id
  ) as p
  where s.tenant_id = memory.current_tenant() and s.id = any (fact_ids)
    and s.planned_for is null
    and p.scope = s.scope and p.predicate_key = s.predicate_key
    -- What has only faded is not over.
    and p.validity in ('superseded', 'expired') and p.valid_to is not null
    and held && tstzrange(p.valid_from, p.valid_to)
    and (s.valid_from < upper(held)) is not true
  order by p.id, s.id;
$$;

comment on function memory.former_facts(uuid[], tstzmultirange) is
'What held at any of these times under the keys of the given facts, which have begun only '
'afterwards; place: 1 for the last one under its key. Superseded facts, and those that have ended.';

create or replace function memory.find_memories(
  memory_types text[],
  mode text,
  query text,
  embedding vector,
  scope text,
  max_results integer,
  min_confidence float8,
  min_relevance float8,
  keyword_match text,
  listed boolean,
  composite boolean,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
#variable_conflict use_column
declare
  v_listed boolean := listed or settings.ranking = 'specified';
  v_depth integer := case when v_listed then max_results else memory.candidate_depth(max_results) end;
  v_sharpness float8 := case when v_listed then 1 else settings.relevance_sharpness end;
  v_updates_first boolean := composite and not v_listed and settings.updates_first;
  v_relations memory.relations := case
    when v_listed
    then row(query, null::memory.mentioned[], null::text, null::text)::memory.relations
    else memory.read_relations(
      memory.correct_spelling(query, find_memories.scope, settings, as_of),
      find_memories.scope, settings
    )
  end;
  v_of_self boolean := not v_listed and memory.asks_of_self(query)
    and not memory.asks_happened(query);
  v_selves text[] := case
    when v_of_self then memory.subjects_of_user(find_memories.scope, settings)
  end;
  -- So that what ranks behind another answer leaves room for it.
  v_spare integer := case when v_of_self or v_relations.people is not null then 5 else 0 end;
  v_rest tsquery := (memory.read_query(v_relations.rest, 'any', settings)).condition;
  v_has_plans boolean := exists (
    select from memory.facts as f
    where f.tenant_id = settings.tenant_id and f.planned_for is not null and f.validity = 'active'
  );
  v_held tstzmultirange := case
    when not v_listed and 'fact' = any (memory_types)
    then memory.read_former(find_memories.query, settings, as_of)
  end;
begin
  return query
  with candidates as materialized (
    select l.*
    from memory.list_candidates(
      memory_types, mode, v_relations, find_memories.embedding, find_memories.scope,
      v_depth, find_memories.min_confidence, find_memories.min_relevance,
      find_memories.keyword_match, listed, settings, as_of
    ) as l
  ),
  best as materialized (
    select l.*
    from candidates as l
    where l.outcome is null
    order by
      l.score desc, l.semantic_rank, case when not v_listed then l.similarity end desc nulls last,
      l.created_at desc, l.type_position, l.id
    -- With lists, the composite score orders every entry.
    limit case when not (v_listed and composite) then max_results + v_spare end
  ),
  former as materialized (
    select f.*
    from memory.former_facts(
      array(select b.id from best as b where b.memory_type = 'fact'), v_held
    ) as f
    where v_held is not null
  ),
  scored as materialized (
    select
      m.memory_type, m.id, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
      p.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
      m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at,
      m.reference_count, c.type_position, c.similarity, c.semantic_rank, c.keyword_score, c.keyword_rank,
      c.rrf_score, c.meaning, c.words, c.neighbor_boost, c.session_boost, c.named_boost,
      c.time_boost, c.relevance, p.recency, c.id as asked_id, c.former_place,
      case
        when composite then memory.composite_score(
          c.relevance, m.importance, p.recency, p.effective_confidence,
          settings.weight_relevance, settings.weight_importance,
          settings.weight_recency, settings.weight_confidence,
          v_sharpness
        )
        else c.score
      end as score,
      -- Of a fact, whether or not the query asks for its predicate (memory.asks_for).
      1 - (1 - c.named_boost) * (1 - c.time_boost) * (
        1 - memory.weigh_evidence(
          c.meaning, c.words, settings.meaning_weight, settings.words_weight
        )
      ) as plain_relevance,
      coalesce(m.valid_from, m.created_at) as held_from,
      case when m.planned_for > as_of then m.planned_for end as planned_for,
      m.valid_to,
      case when v_updates_first and m.memory_type = 'fact' then m.embedding end as embedding
    from (
      select b.*, b.id as own_id, null::bigint as former_place
      from best as b
      union all
      -- What held at a time that is asked for has the parts of what took its place.
      select b.*, f.id, f.place
      from former as f
      join best as b on b.memory_type = 'fact' and b.id = f.successor_id
    ) as c
    cross join lateral (
      select s.*
      from memory.searchable_memories as s
      where s.tenant_id = settings.tenant_id and s.memory_type = c.memory_type
        and s.id = c.own_id
      offset 0 -- keeps this a look-up of one memory
    ) as m
    cross join lateral (
      select
        memory.effective_confidence(
          m.confidence, m.decay_rate, m.last_confirmed_at,
          memory.decays_until(m.lifecycle_state, m.updated_at, as_of)
        ) as effective_confidence,
        case
          when composite
          then memory.recency_of(m.last_referenced_at, m.created_at, settings, as_of)
        end as recency
      offset 0 -- computes both only once
    ) as p
    -- That nobody confirms any more what is over does not make it less certain.
    where c.former_place is null or m.confidence >= find_memories.min_confidence
  ),
  -- A fact that reports news ranks above the older fact that it resembles, unless it fits far
  -- worse. News is rarely stored under the key of the fact it replaces, so the older fact is not
  -- superseded.
  older as materialized (
    select
      n.id, n.content, n.embedding, n.held_from, o.id as older_id, o.score, d.distance,
      d.is_same or n.entity_id = o.entity_id as is_same
    from scored as n
    join scored as o
      on n.memory_type = 'fact' and o.memory_type = 'fact' and o.held_from < n.held_from
      and n.planned_for is null
      and o.score > n.score and o.plain_relevance <= n.plain_relevance + 0.5
    cross join lateral (
      select
        n.embedding <=> o.embedding as distance,
        lower(n.subject) = lower(o.subject) as is_same
    ) as d
    where v_updates_first and n.former_place is null and o.former_place is null
      and coalesce(d.distance <= 0.5, d.is_same)
  ),
  news as materialized (
    select n.id, p.replaced_id, r.distance
    from (
      select distinct on (o.id) o.id, o.content, o.embedding, o.held_from
      from older as o
      order by o.id
      offset 0 -- tells_update is expensive: runs it only for these rows
    ) as n
    cross join lateral (
      select memory.replaced_by_news(n.id) as replaced_id
      offset 0 -- looks it up only once
    ) as p
    -- It is about what it resembles most: an older fact, even one that does not answer the query,
    -- or the one that it has superseded, where it has nothing left to do.
    cross join lateral (
      select min(n.embedding <=> f.embedding) as distance
      from memory.facts as f
      join memory.facts as o on o.tenant_id = f.tenant_id and o.id = n.id
      where f.tenant_id = settings.tenant_id
        and f.id in (
          select c.id from candidates as c where c.memory_type = 'fact'
          union all
          select p.replaced_id
        )
        and f.embedding_version_id = o.embedding_version_id
        and coalesce(f.valid_from, f.created_at) < n.held_from
    ) as r
    where memory.tells_update(n.content)
  ),
  updates as (
    select
      n.id,
      max(o.score) as score,
      (array_agg(o.older_id order by o.score desc, o.older_id))[1] as updates_id
    from news as n
    join older as o
      on o.id = n.id and (o.distance <= n.distance + 0.06) is not false
        -- A trip that is canceled for a baby says nothing of when the baby is due.
        and (n.replaced_id is null or o.is_same)
    group by n.id
  ),
  -- Of what is active under one key, what holds ranks before what is planned, and what is planned
  -- sooner before what is planned later, unless the latter is news: a dinner that was moved. What
  -- has begun since the last sweep holds.
  keyed as materialized (
    select
      s.id, s.score, s.created_at, f.scope, f.entity_id, f.subject_key, f.predicate_key,
      coalesce(s.planned_for, '-infinity') as planned_for, -extract(epoch from s.held_from) as age,
      s.planned_for is not null and memory.tells_update(s.content) as is_news
    from scored as s
    join memory.facts as f on f.tenant_id = settings.tenant_id and f.id = s.id
    where v_has_plans and s.memory_type = 'fact' and s.former_place is null
  ),
  turns as (
    select l.id, count(*) as place, min(e.score) as score
    from keyed as e
    join keyed as l
      on e.scope = l.scope and e.predicate_key = l.predicate_key
      and (
        e.entity_id = l.entity_id
        or e.entity_id is null and l.entity_id is null and e.subject_key = l.subject_key
      )
      and case
        when l.is_news and e.planned_for > '-infinity' and l.created_at > e.created_at then false
        when e.is_news and l.planned_for > '-infinity' and e.created_at > l.created_at then true
        else (e.planned_for, e.age) < (l.planned_for, l.age)
      end
    group by l.id
  ),
  standing as materialized (
    select
      s.id, f.subject_key, f.predicate_key, f.entity_id, f.search_vector, s.subject, s.meaning, s.words,
      s.named_boost, s.relevance, least(coalesce(u.score, s.score), t.score) as score
    from scored as s
    join memory.facts as f on f.tenant_id = settings.tenant_id and f.id = s.id
    left join updates as u on u.id = s.id
    left join turns as t on t.id = s.id
    where v_spare > 0 and s.memory_type = 'fact' and s.former_place is null
  ),
  -- "Where do I work?" does not ask where anybody else works.
  others as (
    select o.id, max(s.score) as score
    from standing as o
    join standing as s on s.subject_key = any (v_selves) and s.predicate_key = o.predicate_key
    where o.subject_key <> all (v_selves)
      -- Unless they are named, or what they have fits clearly better.
      and o.named_boost = 0
      and strpos(
        memory.normalize_name(v_relations.query), memory.normalize_name(o.subject)
      ) = 0
      and o.relevance <= s.relevance + 0.3 and coalesce(o.words, 0) <= coalesce(s.words, 0) + 0.05
    group by o.id
  ),
  -- Who somebody is ranks behind what is asked about them: what says a word of the question, or fits
  -- it almost as well. Unless it says what is asked for.
  introductions as (
    select w.id, max(s.score) as score
    from unnest(v_relations.people) as p
    join standing as w on w.id = p.fact_id
    join (
      select
        o.id, o.subject_key, o.entity_id, null as told, o.search_vector, o.meaning, o.relevance,
        o.score
      from standing as o
      union all
      select
        o.id, null, null, memory.normalize_name(o.content), e.search_vector, o.meaning, o.relevance,
        o.score
      from scored as o
      join memory.episodes as e on e.tenant_id = settings.tenant_id and e.id = o.id
      where v_relations.people is not null and o.memory_type = 'episode'
    ) as s
      on s.id <> w.id
      and (
        s.subject_key = p.subject_key or s.entity_id = p.entity_id
        or strpos(s.told, p.short_name) > 0
      )
    -- "How is my dog?" has no word that could be looked for, and does not ask for the name.
    where (
      v_rest is not null
      or v_relations.rest ~ (
        '\m(how|where|when|why|wie|wo|wann|warum|comment|où|quand|pourquoi|cómo|dónde|cuándo|hoe|waar|'
        'wanneer|waarom)\M'
      )
    )
      and (w.search_vector @@ v_rest) is not true
      and (
        p.is_bare or s.search_vector @@ v_rest
        or s.relevance > w.relevance - 0.12 or s.told is not null and s.meaning > w.meaning
      )
    group by w.id
  )
  select
    s.memory_type, s.id, s.scope, s.subject, s.predicate, s.content, s.importance, s.confidence,
    s.effective_confidence, s.permanence, s.maturity, s.effectiveness_score, s.entity_id,
    s.session_id, s.tags, s.metadata, s.created_at, s.last_confirmed_at, s.last_referenced_at,
    s.reference_count, s.planned_for, s.valid_to, s.similarity, s.semantic_rank, s.keyword_score,
    s.keyword_rank, s.rrf_score, s.meaning, s.words, s.neighbor_boost, s.session_boost,
    s.named_boost, s.time_boost, s.relevance, s.recency, u.updates_id, p.score
  from scored as s
  -- What is over ranks right before what took its place.
  join scored as a
    on a.memory_type = s.memory_type and a.id = s.asked_id and a.former_place is null
  left join updates as u on s.memory_type = 'fact' and u.id = s.asked_id
  left join turns as t on s.memory_type = 'fact' and t.id = s.asked_id
  left join introductions as i on s.memory_type = 'fact' and i.id = s.asked_id
  left join others as o on s.memory_type = 'fact' and o.id = s.asked_id
  cross join lateral (
    select least(coalesce(u.score, a.score), t.score, i.score, o.score) as score
  ) as p
  order by
    p.score desc, coalesce(t.place, 0), i.id is not null, o.id is not null, s.former_place,
    case when not composite then s.semantic_rank end,
    case when not composite then s.similarity end desc nulls last,
    u.updates_id is null, s.created_at desc, s.type_position, s.id
  limit max_results;
end;
$$;

comment on function memory.find_memories(
  text[], text, text, vector, text, integer, float8, float8, text, boolean, boolean,
  memory.settings, timestamptz
) is
'The best max_results of memory.list_candidates with all parts of their scores, best first: by '
'relevance or list score. composite: takes the max_results most relevant (five more for questions '
'about the user or relatives), or all entries of the lists, and orders them by composite score. A '
'question about the past (memory.read_former) also '
'finds what its facts took the place of. Who somebody is ranks behind what is asked about them '
'(memory.read_relations), and others behind a user who asks about himself or herself. Misspelled '
'words are read as memory.correct_spelling reads them.';
grant execute on function memory.find_memories to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
