-- Deploy pymem:functions/candidates to pg
-- requires: tables/searchable_memories
-- requires: functions/scoring
-- requires: functions/settings

begin;

-- The functions of this file belong to memory_search, whose row policy lets it see every tenant:
-- under a tenant policy the operators they need, which are not leakproof, could use no index. So
-- each query here names the tenant for each table itself.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
grant usage on type memory.candidate, memory.ranked_memory to memory_search;
set local role memory_search;

create function memory.exact_neighbours(
  memory_type text,
  embedding vector,
  scope text,
  max_results integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- or the planner joins the answers as if they were thousands
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning would cost more than searching
  set jit = off -- and compiling more still
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  -- The order is an expression that no vector index serves: this reads the tenant's vectors out of
  -- the covering index, and those only.
  return query
  select m.id, 1 - (m.embedding <=> exact_neighbours.embedding) as weight, m.created_at
  from memory.searchable_memories as m
  where m.is_live
    and m.tenant_id = v_tenant_id
    and m.memory_type = exact_neighbours.memory_type
    and m.embedding is not null
    and (m.expires_at is null or m.expires_at > as_of)
    and (
      exact_neighbours.scope is null or m.scope = exact_neighbours.scope
      or m.scope = 'global' and m.memory_type <> 'episode'
    )
    and memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
      >= exact_neighbours.min_confidence
  order by weight desc, m.created_at desc, m.id
  limit max_results;
end;
$$;

comment on function memory.exact_neighbours(text, vector, text, integer, float8, timestamptz) is
'The live memories of one type nearest to a vector by cosine similarity, compared one by one.';

create function memory.approximate_neighbours(
  memory_type text,
  embedding vector,
  scope text,
  max_results integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- or the planner joins the answers as if they were thousands
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- the limit decides whether an index pays
  set jit = off
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_iterative_scan text := current_setting('hnsw.iterative_scan', true);
  v_probes text := current_setting('ivfflat.probes', true);
begin
  -- Filters apply after the index: let HNSW (pgvector 0.8) read on until the limit is filled, and
  -- IVFFlat read all of its lists.
  if v_iterative_scan is not null then
    perform set_config('hnsw.iterative_scan', 'strict_order', true);
  end if;
  perform set_config('ivfflat.probes', '20', true);

  return query
  with nearest as materialized (
    select m.id, 1 - (m.embedding <=> approximate_neighbours.embedding) as weight, m.created_at
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.memory_type = approximate_neighbours.memory_type
      and m.embedding is not null
      and (m.expires_at is null or m.expires_at > as_of)
      and (
        approximate_neighbours.scope is null or m.scope = approximate_neighbours.scope
        or m.scope = 'global' and m.memory_type <> 'episode'
      )
      and memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
        >= approximate_neighbours.min_confidence
    order by m.embedding <=> approximate_neighbours.embedding
    limit max_results
  )
  select n.id, n.weight, n.created_at
  from nearest as n
  order by n.weight desc, n.created_at desc, n.id;

  if v_iterative_scan is not null then
    perform set_config('hnsw.iterative_scan', v_iterative_scan, true);
  end if;
  perform set_config('ivfflat.probes', v_probes, true);
end;
$$;

comment on function memory.approximate_neighbours(
  text, vector, text, integer, float8, timestamptz
) is
'The same through an HNSW or IVFFlat index, which may miss some and may come back short.';

create function memory.keyword_matches(
  memory_type text,
  query text,
  keyword_match text,
  text_search_config text,
  scope text,
  max_results integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- or the planner joins the answers as if they were thousands
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning would cost more than searching
  set jit = off -- and compiling more still
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_lexemes text[] := memory.query_lexemes(text_search_config, query);
  v_query tsquery;
  v_any bigint[];
  v_all bigint[] := '{}';
begin
  if v_lexemes = '{}' then
    return;
  end if;
  if keyword_match = 'all' then
    v_query := plainto_tsquery(
      text_search_config::regconfig, memory.preprocess_search_query(query)
    );
    v_any := memory.hash_terms(v_tenant_id, v_lexemes);
    -- Where a dictionary gives alternatives for a word, not every lexeme need occur.
    if v_query::text !~ '\|' then
      v_all := v_any;
    end if;
  else
    -- A whole prompt as a query must not visit every posting: its first 64 distinct words.
    v_query := memory.any_lexeme(v_lexemes[:64]);
    v_any := memory.hash_terms(v_tenant_id, v_lexemes[:64]);
  end if;

  return query
  select m.id, ts_rank(m.search_vector, v_query)::float8 as weight, m.created_at
  from memory.searchable_memories as m
  where m.is_live
    and m.tenant_id = v_tenant_id
    and m.memory_type = keyword_matches.memory_type
    and memory.search_terms(m.tenant_id, m.search_vector) && v_any
    and memory.search_terms(m.tenant_id, m.search_vector) @> v_all
    and m.search_vector @@ v_query
    and (m.expires_at is null or m.expires_at > as_of)
    and (
      keyword_matches.scope is null or m.scope = keyword_matches.scope
      or m.scope = 'global' and m.memory_type <> 'episode'
    )
    and memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
      >= keyword_matches.min_confidence
  order by weight desc, m.created_at desc, m.id
  limit max_results;
end;
$$;

comment on function memory.keyword_matches(
  text, text, text, text, text, integer, float8, timestamptz
) is
'The live memories of one type that match a query, by ts_rank. keyword_match "all": every word '
'(plainto_tsquery); "any": any of its first 64 distinct words.';

create function memory.use_approximate_index(
  memory_type text,
  exact_scan_limit integer
)
  returns boolean
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_index regclass := to_regclass('memory.' || case memory_type
    when 'episode' then 'episodes' when 'fact' then 'facts' else 'rules'
  end || '_embedding_idx');
begin
  if v_index is null
    or not (select i.indisvalid from pg_index as i where i.indexrelid = v_index)
  then
    return false;
  end if;
  return exact_scan_limit < (
    select count(*)
    from (
      select
      from memory.searchable_memories as m
      where m.is_live
        and m.tenant_id = v_tenant_id
        and m.memory_type = use_approximate_index.memory_type
        and m.embedding is not null
      limit exact_scan_limit + 1
    ) as counted
  );
end;
$$;

comment on function memory.use_approximate_index(text, integer) is
'Whether semantic search of a type should use an approximate index: there is a valid one '
'(memory.rebuild_vector_indexes) and the tenant has more vectors than exact_scan_limit.';

create function memory.nearest_neighbours(
  memory_type text,
  embedding vector,
  scope text,
  max_results integer,
  min_confidence float8,
  exact_scan_limit integer,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- or the planner joins the answers as if they were thousands
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_neighbours memory.candidate[];
begin
  if memory.use_approximate_index(memory_type, exact_scan_limit) then
    v_neighbours := array(
      select a
      from memory.approximate_neighbours(
        memory_type, embedding, scope, max_results, min_confidence, as_of
      ) as a
    );
    if cardinality(v_neighbours) >= max_results then
      return query select n.* from unnest(v_neighbours) as n;
      return;
    end if;
    -- Came back short: only the exact answer tells whether there is more.
  end if;
  return query
  select n.*
  from memory.exact_neighbours(
    memory_type, embedding, scope, max_results, min_confidence, as_of
  ) as n;
end;
$$;

comment on function memory.nearest_neighbours(
  text, vector, text, integer, float8, integer, timestamptz
) is
'The live memories of one type nearest to a vector: never fewer than there are, up to '
'max_results, whatever the index.';

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
  as_of timestamptz
)
  returns setof memory.ranked_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning would cost more than searching
  set jit = off -- and compiling more still
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
begin
  return query
  with semantic as (
    select
      t.memory_type,
      c.id,
      c.weight as similarity,
      row_number() over (
        partition by t.memory_type order by c.weight desc, c.created_at desc, c.id
      ) as semantic_rank
    from unnest(memory_types) as t (memory_type)
    cross join lateral memory.nearest_neighbours(
      t.memory_type, find_memories.embedding, find_memories.scope, depth,
      find_memories.min_confidence, v_settings.exact_scan_limit, as_of
    ) as c
    where mode <> 'keyword' and find_memories.embedding is not null
  ),
  keyword as (
    select
      t.memory_type,
      c.id,
      c.weight as rank,
      row_number() over (
        partition by t.memory_type order by c.weight desc, c.created_at desc, c.id
      ) as keyword_rank
    from unnest(memory_types) as t (memory_type)
    cross join lateral memory.keyword_matches(
      t.memory_type, find_memories.query, find_memories.keyword_match,
      v_settings.text_search_config, find_memories.scope, depth, find_memories.min_confidence,
      as_of
    ) as c
    where mode <> 'semantic'
  ),
  fused as (
    select
      memory_type,
      id,
      s.similarity,
      s.semantic_rank,
      k.rank,
      k.keyword_rank,
      memory.rrf_score(s.semantic_rank, k.keyword_rank, depth + 1, v_settings.rrf_k) as rrf_score
    from semantic as s
    full join keyword as k using (memory_type, id)
  )
  select
    m.memory_type, m.id, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
    p.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
    m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at,
    m.reference_count, f.similarity, f.semantic_rank, f.rank, f.keyword_rank,
    case when mode = 'hybrid' then f.rrf_score end,
    case when composite then p.relevance end, case when composite then p.recency end,
    case
      when composite then memory.composite_score(
        p.relevance, m.importance, p.recency, p.effective_confidence,
        v_settings.weight_relevance, v_settings.weight_importance,
        v_settings.weight_recency, v_settings.weight_confidence
      )
      when mode = 'semantic' then f.similarity
      when mode = 'keyword' then f.rank
      else f.rrf_score
    end
  from fused as f
  join memory.searchable_memories as m
    on m.tenant_id = v_settings.tenant_id
    and m.memory_type = f.memory_type
    and m.id = f.id
    and m.is_live
  cross join lateral (
    select
      memory.effective_confidence(
        m.confidence, m.decay_rate, m.last_confirmed_at, as_of
      ) as effective_confidence,
      memory.relevance_score(f.rrf_score, v_settings.rrf_k) as relevance,
      memory.recency_score(
        case
          when v_settings.recency_null = 'created_at'
          then coalesce(m.last_referenced_at, m.created_at)
          else m.last_referenced_at
        end,
        v_settings.recency_half_life_days,
        as_of
      ) as recency
  ) as p;
end;
$$;

comment on function memory.find_memories(
  text[], text, text, vector, text, integer, float8, text, boolean, timestamptz
) is
'Reads both ranked lists of each type, depth deep, fuses them and returns every candidate with '
'all parts of its score, in no order. The score is composite or that of the mode.';

-- The one query across tenants: it tells a number and no tenant's name.
create function memory.largest_tenant_size()
  returns bigint
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(max(c.vectors), 0)
  from (
    select m.tenant_id, m.memory_type, count(*) as vectors
    from memory.searchable_memories as m
    where m.is_live and m.embedding is not null
    group by m.tenant_id, m.memory_type
  ) as c;
$$;

comment on function memory.largest_tenant_size() is
'The most vectors any tenant has of one type.';

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
