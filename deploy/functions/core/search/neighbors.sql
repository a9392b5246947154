-- Deploy pymem:functions/core/search/neighbors to pg

begin;

-- The functions of this file belong to memory_search, whose row policy lets it see every tenant:
-- under a tenant policy the operators they need, which are not leakproof, could use no index. So
-- each query here names the tenant for each table itself.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.exact_neighbors(
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
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off -- and compiling more still
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  -- The order is an expression that no vector index serves, and the collation leaves the covering
  -- index only: this reads the tenant's vectors out of it. Another index looks cheaper to the planner
  -- once recall has counted references (the pages are not all-visible then), but would have to fetch
  -- each vector from where it is stored out of line. (One statement over the view of all types would
  -- do, and take a sixth longer.)
  if memory_type = 'fact' then
    return query
    select f.id, 1 - (f.embedding <=> exact_neighbors.embedding) as weight, f.created_at
    from memory.facts as f
    where f.validity = 'active'
      and f.tenant_id collate "C" = v_tenant_id
      and f.embedding is not null
      and (exact_neighbors.scope is null or f.scope in (exact_neighbors.scope, 'global'))
      and (
        exact_neighbors.min_confidence = 0
        or memory.effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, as_of)
          >= exact_neighbors.min_confidence
      )
    order by weight desc, f.created_at desc, f.id
    limit max_results;
  elsif memory_type = 'rule' then
    return query
    select r.id, 1 - (r.embedding <=> exact_neighbors.embedding) as weight, r.created_at
    from memory.rules as r
    where r.lifecycle_state <> 'retracted'
      and r.tenant_id collate "C" = v_tenant_id
      and r.embedding is not null
      and (exact_neighbors.scope is null or r.scope in (exact_neighbors.scope, 'global'))
      and (
        exact_neighbors.min_confidence = 0
        or memory.effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, as_of)
          >= exact_neighbors.min_confidence
      )
    order by weight desc, r.created_at desc, r.id
    limit max_results;
  else
    return query
    select e.id, 1 - (e.embedding <=> exact_neighbors.embedding) as weight, e.created_at
    from memory.episodes as e
    where e.tenant_id collate "C" = v_tenant_id
      and e.embedding is not null
      and (e.expires_at is null or e.expires_at > as_of)
      and (exact_neighbors.scope is null or e.butler = exact_neighbors.scope)
    order by weight desc, e.created_at desc, e.id
    limit max_results;
  end if;
end;
$$;

comment on function memory.exact_neighbors(text, vector, text, integer, float8, timestamptz) is
'The live memories of one type nearest to a vector by cosine similarity, compared one by one.';
grant execute on function memory.exact_neighbors to memory_owner;

create or replace function memory.vector_index(memory_type text)
  returns regclass
  language sql
  stable
  return to_regclass('memory.' || memory_type || 's_embedding_idx');

comment on function memory.vector_index(text) is
'The approximate index of a memory type; NULL if there is none.';
grant execute on function memory.vector_index to memory_owner;

create or replace function memory.approximate_neighbors(
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
  set plan_cache_mode = force_custom_plan -- only the branch of one type can use its index
  set enable_sort = off -- whoever calls this knows that the index pays
  set jit = off
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_lists integer;
  v_iterative_scan text;
  v_ef_search text;
  v_probes text;
begin
  perform vector_dims(embedding); -- loads pgvector, so that its settings are there
  v_iterative_scan := current_setting('hnsw.iterative_scan', true);
  v_ef_search := current_setting('hnsw.ef_search');
  v_probes := current_setting('ivfflat.probes');

  -- What found at least 0.97 of the ten nearest among 50,000 clustered vectors. Filters apply after
  -- the index, so HNSW (pgvector 0.8) reads on until the limit is filled. Of 20 lists, IVFFlat reads
  -- all. Where an operator has set more, that counts.
  if v_iterative_scan is not null then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  end if;
  perform set_config('hnsw.ef_search', greatest(v_ef_search::integer, 600)::text, true);
  select o.option_value::integer into v_lists
  from pg_class as c
  cross join lateral pg_options_to_table(c.reloptions) as o
  where c.oid = memory.vector_index(memory_type) and o.option_name = 'lists';
  perform set_config('ivfflat.probes', greatest(v_probes::integer, v_lists / 5, 20)::text, true);

  return query
  with nearest as materialized (
    select m.id, 1 - (m.embedding <=> approximate_neighbors.embedding) as weight, m.created_at
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.memory_type = approximate_neighbors.memory_type
      and m.embedding is not null
      and (m.expires_at is null or m.expires_at > as_of)
      and (
        approximate_neighbors.scope is null or m.scope = approximate_neighbors.scope
        or m.scope = 'global' and m.memory_type <> 'episode'
      )
      and (
        approximate_neighbors.min_confidence = 0
        or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          >= approximate_neighbors.min_confidence
      )
    order by m.embedding <=> approximate_neighbors.embedding
    limit max_results
  )
  select n.id, n.weight, n.created_at
  from nearest as n
  order by n.weight desc, n.created_at desc, n.id;

  if v_iterative_scan is not null then
    perform set_config('hnsw.iterative_scan', v_iterative_scan, true);
  end if;
  perform set_config('hnsw.ef_search', v_ef_search, true);
  perform set_config('ivfflat.probes', v_probes, true);
end;
$$;

comment on function memory.approximate_neighbors(
  text, vector, text, integer, float8, timestamptz
) is
'The same through an HNSW or IVFFlat index, which may miss some and may come back short.';
grant execute on function memory.approximate_neighbors to memory_owner;

create or replace function memory.use_approximate_index(
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
  v_index regclass := memory.vector_index(memory_type);
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
        and m.tenant_id collate "C" = v_tenant_id
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
grant execute on function memory.use_approximate_index to memory_owner;

create or replace function memory.nearest_neighbors(
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
  v_neighbors memory.candidate[];
begin
  if embedding is null then
    return;
  end if;
  if memory.vector_index(memory_type) is not null
    and memory.use_approximate_index(memory_type, exact_scan_limit)
  then
    v_neighbors := array(
      select a
      from memory.approximate_neighbors(
        memory_type, embedding, scope, max_results, min_confidence, as_of
      ) as a
    );
    if cardinality(v_neighbors) >= max_results then
      return query select n.* from unnest(v_neighbors) as n;
      return;
    end if;
    -- Came back short: only the exact answer tells whether there is more.
  end if;
  return query
  select n.*
  from memory.exact_neighbors(
    memory_type, embedding, scope, max_results, min_confidence, as_of
  ) as n;
end;
$$;

comment on function memory.nearest_neighbors(
  text, vector, text, integer, float8, integer, timestamptz
) is
'The live memories of one type nearest to a vector: never fewer than there are, up to '
'max_results, whatever the index. None for no vector.';
grant execute on function memory.nearest_neighbors to memory_owner;

-- The one query across tenants: it tells a number and no tenant's name.
create or replace function memory.largest_tenant_size()
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
grant execute on function memory.largest_tenant_size to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
