-- Deploy pymem:functions/candidates to pg
-- requires: functions/keywords
-- requires: functions/neighbours

begin;

-- The functions of this file belong to memory_search: see functions/neighbours. find_memories sets
-- plan_cache_mode and jit for those that it calls.

set local role memory_owner;

create type memory.fused_candidate as (
  memory_type text,
  type_position bigint,
  id uuid,
  created_at timestamptz,
  similarity float8,
  semantic_rank bigint,
  rank float8,
  keyword_rank bigint,
  rrf_score float8,
  neighbour_boost float8,
  session_boost float8,
  named_boost float8,
  relevance float8,
  score float8
);

comment on type memory.fused_candidate is
'A memory of one or both lists, with what became of its ranks.';
comment on column memory.fused_candidate.score is 'What a search of the mode orders by.';

create type memory.keyword_query as (
  lexemes text[],
  condition tsquery,
  any_terms bigint[],
  all_terms bigint[]
);

comment on type memory.keyword_query is
'The words of a query, as lexemes and as what a text has to match; keys (memory.hash_terms) of '
'lexemes one of which, and each of which, a match is filed under: all_terms is NULL where any will '
'do.';

create function memory.normalize_name(name text)
  returns text
  language sql
  immutable
  strict
  parallel safe
  return ' ' || btrim(regexp_replace(lower(name), '[^[:alnum:]]+', ' ', 'g')) || ' ';

comment on function memory.normalize_name(text) is
'A name or a text as lower-case words between single spaces, so that position() finds whole '
'words.';

grant create on schema memory to memory_search;
grant usage on type memory.fused_candidate, memory.keyword_query to memory_search;
set local role memory_search;

create function memory.read_query(
  query text,
  keyword_match text,
  settings memory.settings
)
  returns memory.keyword_query
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_vector tsvector := to_tsvector(settings.text_search_config::regconfig, coalesce(query, ''));
  v_query memory.keyword_query;
begin
  if v_vector = '' then
    return null;
  end if;
  -- A whole prompt as a query must not visit every posting: its first 64 distinct words.
  v_query.lexemes := case
    when length(v_vector) <= 64 then tsvector_to_array(v_vector)
    else (memory.query_lexemes(settings.text_search_config, query))[:64]
  end;
  v_query.any_terms := memory.hash_terms(settings.tenant_id, v_query.lexemes);
  if keyword_match = 'all' then
    v_query.condition := plainto_tsquery(
      settings.text_search_config::regconfig, memory.preprocess_search_query(query)
    );
    -- Where a dictionary gives alternatives for a word, not every lexeme need occur.
    v_query.all_terms := case
      when v_query.condition::text ~ '\|' then '{}' else v_query.any_terms
    end;
  else
    v_query.condition := memory.any_lexeme(v_query.lexemes);
  end if;
  return v_query;
end;
$$;

comment on function memory.read_query(text, text, memory.settings) is
'A query as keyword search asks it: any or all of its words. NULL without a word to ask for.';

-- Written so that the planner makes it part of the query that calls it.
-- noqa: disable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09
create function memory.fuse_lists(
  memory_types text[],
  mode text,
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.fused_candidate
  language sql
  stable
  rows 50
begin atomic
  select
    t.memory_type, t.type_position, l.id, l.created_at, l.similarity, l.semantic_rank, l.rank,
    l.keyword_rank, r.rrf_score, null::float8, null::float8, null::float8,
    case
      when mode = 'hybrid'
      then memory.relevance_score(
        r.rrf_score, (settings).rrf_k,
        case when (settings).relevance_scale = 'range' then depth + 1::bigint end
      )
    end,
    case mode when 'semantic' then l.similarity when 'keyword' then l.rank else r.rrf_score end
  from unnest(memory_types) with ordinality as t (memory_type, type_position)
  cross join lateral (
    select
      coalesce(s.id, k.id) as id,
      coalesce(s.created_at, k.created_at) as created_at,
      s.weight as similarity,
      s.place as semantic_rank,
      k.weight as rank,
      k.place as keyword_rank
    from memory.nearest_neighbours(
      t.memory_type, case when mode <> 'keyword' then embedding end, fuse_lists.scope, depth,
      fuse_lists.min_confidence, (settings).exact_scan_limit, as_of
    ) with ordinality as s (id, weight, created_at, place)
    full join (
      select m.*, row_number() over (order by m.weight desc, m.created_at desc, m.id) as place
      from (
        select w.*
        from memory.keyword_matches(
          (settings).tenant_id, t.memory_type, (words).condition, (words).any_terms,
          (words).all_terms, fuse_lists.scope, depth, fuse_lists.min_confidence, as_of
        ) as w
        where (settings).keyword_ranker = 'ts_rank' and (words).any_terms is not null
        union all
        select b.*
        from memory.bm25_matches(
          t.memory_type, (words).condition, (words).lexemes, settings, fuse_lists.scope, depth,
          fuse_lists.min_confidence, as_of
        ) as b
        where (settings).keyword_ranker = 'bm25' and (words).any_terms is not null
      ) as m
    ) as k
    on k.id = s.id
  ) as l
  cross join lateral (
    select case when mode = 'hybrid' then
      memory.rrf_score(l.semantic_rank, l.keyword_rank, depth + 1, (settings).rrf_k)
    end as rrf_score
    limit 1 -- a value, not an expression: with it relevance_score is part of this query
  ) as r;
end;
-- noqa: enable=AL03,AM03,AM09,RF01,RF02,RF03,ST05,ST06,ST09

comment on function memory.fuse_lists(
  text[], text, memory.keyword_query, vector, text, integer, float8, memory.settings, timestamptz
) is
'Reads the semantic and the keyword list of each type, depth deep, and fuses them by their ranks, '
'in no order.';

create function memory.boost_candidates(
  memory_types text[],
  query text,
  words memory.keyword_query,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.fused_candidate
  language plpgsql
  stable
  rows 50
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_names text := memory.normalize_name(query);
  v_boosts float8 := settings.boost_neighbours + settings.boost_session + settings.boost_named;
begin
  return query
  with listed as (
    select
      c.*,
      min(c.similarity) over () as least_similarity,
      max(c.similarity) over () as greatest_similarity,
      max(c.rank) over () as greatest_rank
    from memory.fuse_lists(
      memory_types, 'hybrid', boost_candidates.words, embedding, boost_candidates.scope, depth,
      boost_candidates.min_confidence, settings, as_of
    ) as c
  ),
  based as materialized (
    select
      l.*,
      case
        when settings.fusion = 'rrf' then l.relevance
        else
          settings.semantic_share * case
            when l.similarity is null then 0
            when l.greatest_similarity = l.least_similarity then 1
            else (l.similarity - l.least_similarity) / (l.greatest_similarity - l.least_similarity)
          end
          + (1 - settings.semantic_share) * coalesce(l.rank / nullif(l.greatest_rank, 0), 0)
      end as base,
      m.session_id,
      exists (
        select
        from (
          values (m.metadata ->> 'speaker'), (m.subject)
          union all
          select e.canonical_name
          from memory.entities as e
          where e.tenant_id = settings.tenant_id and e.id = m.entity_id
          union all
          select unnest(e.aliases)
          from memory.entities as e
          where e.tenant_id = settings.tenant_id and e.id = m.entity_id
        ) as n (name)
        where settings.boost_named > 0
          and position(nullif(memory.normalize_name(n.name), '  ') in v_names) > 0
      ) as is_named
    from listed as l
    left join lateral (
      select s.session_id, s.subject, s.entity_id, s.metadata
      from memory.searchable_memories as s
      where v_boosts > 0
        and s.tenant_id = settings.tenant_id and s.memory_type = l.memory_type and s.id = l.id
      offset 0
    ) as m on true
  ),
  pairs as (
    select b.id, b.base, p.id as previous_id
    from based as b
    cross join lateral (
      select e.id
      from memory.episodes as e
      where settings.boost_neighbours > 0
        and e.tenant_id = settings.tenant_id
        and e.session_id = b.session_id
        and (e.created_at, e.id) < (b.created_at, b.id)
      order by e.created_at desc, e.id desc
      limit 1
    ) as p
  ),
  neighbours as (
    select n.id, max(n.base) as best
    from (
      select p.id, b.base from pairs as p join based as b on b.id = p.previous_id
      union all
      select p.previous_id, p.base from pairs as p
    ) as n
    group by n.id
  ),
  boosted as (
    select
      b.*,
      settings.boost_neighbours * coalesce(n.best, 0) as by_neighbours,
      case
        when b.session_id is null then 0
        else settings.boost_session * max(b.base) over (partition by b.session_id)
      end as by_session,
      settings.boost_named * b.is_named::integer as by_name
    from based as b
    left join neighbours as n on n.id = b.id
  )
  select
    b.memory_type, b.type_position, b.id, b.created_at, b.similarity, b.semantic_rank, b.rank,
    b.keyword_rank, b.rrf_score, b.by_neighbours, b.by_session, b.by_name, r.relevance, r.relevance
  from boosted as b
  cross join lateral (
    select (b.base + b.by_neighbours + b.by_session + b.by_name) / (1 + v_boosts) as relevance
  ) as r;
end;
$$;

comment on function memory.boost_candidates(
  text[], text, memory.keyword_query, vector, text, integer, float8, memory.settings, timestamptz
) is
'The same lists, fused as the setting fusion says and boosted: an episode by the relevance of the '
'turn before or after it, if that is a candidate too, and by the best of its session, a memory '
'by being about someone the query names. Relevance is over its maximum, so at most 1.';

create function memory.find_memories(
  memory_types text[],
  mode text,
  query text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  keyword_match text,
  composite boolean,
  max_results integer,
  settings memory.settings,
  as_of timestamptz
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  rows 50
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning would cost more than searching
  set jit = off -- and compiling more still
as $$
#variable_conflict use_column
declare
  v_words memory.keyword_query;
  v_boosted boolean := mode = 'hybrid' and (
    settings.fusion <> 'rrf'
    or settings.boost_neighbours + settings.boost_session + settings.boost_named > 0
  );
begin
  if mode <> 'semantic' then
    v_words := memory.read_query(find_memories.query, find_memories.keyword_match, settings);
  end if;
  return query
  select
    m.memory_type, m.id, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
    p.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
    m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at,
    m.reference_count, c.similarity, c.semantic_rank, c.rank, c.keyword_rank, c.rrf_score,
    c.neighbour_boost, c.session_boost, c.named_boost, c.relevance,
    p.recency,
    s.score
  from (
    select c.*
    from (
      select f.*
      from memory.fuse_lists(
        memory_types, mode, v_words, find_memories.embedding, find_memories.scope, depth,
        find_memories.min_confidence, settings, as_of
      ) as f
      where not v_boosted
      union all
      select b.*
      from memory.boost_candidates(
        memory_types, find_memories.query, v_words, find_memories.embedding, find_memories.scope,
        depth, find_memories.min_confidence, settings, as_of
      ) as b
      where v_boosted
    ) as c
    order by c.score desc, c.semantic_rank, c.created_at desc, c.type_position, c.id
    -- Only a composite score depends on more than the lists.
    limit case when not composite then max_results end
  ) as c
  cross join lateral (
    select s.*
    from memory.searchable_memories as s
    where s.tenant_id = settings.tenant_id and s.memory_type = c.memory_type and s.id = c.id
    offset 0
  ) as m
  cross join lateral (
    select
      memory.effective_confidence(
        m.confidence, m.decay_rate, m.last_confirmed_at, as_of
      ) as effective_confidence,
      case
        when composite
        then memory.recency_score(
          case
            when settings.recency_null = 'created_at'
            then coalesce(m.last_referenced_at, m.created_at)
            else m.last_referenced_at
          end,
          settings.recency_half_life_days,
          as_of
        )
      end as recency
    offset 0
  ) as p
  cross join lateral (
    select case
      when composite then memory.composite_score(
        c.relevance, m.importance, p.recency, p.effective_confidence,
        settings.weight_relevance, settings.weight_importance,
        settings.weight_recency, settings.weight_confidence
      )
      else c.score
    end as score
  ) as s
  order by
    s.score desc, case when not composite then c.semantic_rank end, m.created_at desc,
    c.type_position, m.id
  limit max_results;
end;
$$;

comment on function memory.find_memories(
  text[], text, text, vector, text, integer, float8, text, boolean, integer, memory.settings,
  timestamptz
) is
'The best candidates of both lists, each depth deep, with all parts of their scores, best first: '
'by the composite score or by that of the mode. max_results: NULL for all of them.';

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
