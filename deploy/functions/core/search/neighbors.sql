-- Deploy pymem:functions/core/search/neighbors to pg

begin;

-- memory_search owns the functions in this file. Its row policy shows it every tenant: under a
-- tenant policy the operators used here, which are not leakproof, cannot use an index. So each
-- query must filter each table by tenant itself.

set local role memory_owner;
grant usage, create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.exact_neighbors(
  memory_type text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_seqscan = off -- forces the covering index: see below
  set enable_bitmapscan = off
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  -- No vector index can serve this ORDER BY expression, and the collation rules out every index but
  -- the covering one, from which this reads the tenant's vectors. Other indexes look cheaper to the
  -- planner once recall has counted references (pages are then no longer all-visible), but with
  -- them each vector is fetched from out-of-line storage. (A single statement over the view of all
  -- types takes a sixth longer.)
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
    limit depth;
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
    limit depth;
  elsif memory_type = 'episode' then
    return query
    select e.id, 1 - (e.embedding <=> exact_neighbors.embedding) as weight, e.created_at
    from memory.episodes as e
    where e.tenant_id collate "C" = v_tenant_id
      and e.embedding is not null
      and (e.expires_at is null or e.expires_at > as_of)
      and (exact_neighbors.scope is null or e.butler = exact_neighbors.scope)
    order by weight desc, e.created_at desc, e.id
    limit depth;
  elsif memory_type = 'entry' then
    return query
    select n.id, 1 - (n.embedding <=> exact_neighbors.embedding) as weight, n.created_at
    from memory.entries as n
    where n.lifecycle_state = 'active'
      and n.tenant_id collate "C" = v_tenant_id
      and n.embedding is not null
      and (n.expires_at is null or n.expires_at > as_of)
      and (exact_neighbors.scope is null or n.scope in (exact_neighbors.scope, 'global'))
      and n.confidence >= exact_neighbors.min_confidence
    order by weight desc, n.created_at desc, n.id
    limit depth;
  else
    -- Any other type, until it is worth a branch and a covering index of its own.
    return query
    select m.id, 1 - (m.embedding <=> exact_neighbors.embedding) as weight, m.created_at
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.memory_type = exact_neighbors.memory_type
      and m.embedding is not null
      and (m.expires_at is null or m.expires_at > as_of)
      and memory.is_in_scope(m.memory_type, m.scope, exact_neighbors.scope)
      and (
        exact_neighbors.min_confidence = 0
        or memory.effective_confidence(m.confidence, m.decay_rate, m.last_confirmed_at, as_of)
          >= exact_neighbors.min_confidence
      )
    order by weight desc, m.created_at desc, m.id
    limit depth;
  end if;
end;
$$;

comment on function memory.exact_neighbors(text, vector, text, integer, float8, timestamptz) is
'The depth live memories of one type nearest to a vector by cosine similarity, found by comparing '
'each vector.';
grant execute on function memory.exact_neighbors to memory_owner;

create or replace function memory.vector_index(memory_type text)
  returns regclass
  language sql
  stable
  return to_regclass('memory.' || memory.vector_index_name(memory_type));

comment on function memory.vector_index(text) is
'The approximate index of a memory type; NULL if there is none.';
grant execute on function memory.vector_index to memory_owner;

create or replace function memory.approximate_neighbors(
  memory_type text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_generic_plan -- planning costs more than it saves
  set enable_sort = off -- forces the index: the caller knows that it pays off
  set enable_seqscan = off
  set enable_bitmapscan = off
  set jit = off -- compiling costs even more
  set max_parallel_workers_per_gather = 0 -- so does starting workers
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_lists integer;
  v_iterative_scan text;
  v_ef_search text;
  v_probes text;
  v_embedding halfvec(384) := l2_normalize(approximate_neighbors.embedding)::halfvec(384);
begin
  -- Casting the vector has loaded pgvector, which defines the settings below.
  v_iterative_scan := current_setting('hnsw.iterative_scan', true);
  v_ef_search := current_setting('hnsw.ef_search');
  v_probes := current_setting('ivfflat.probes');

  -- The index holds halves of vectors, of length 1 so that no number is out of their range; what it
  -- finds is ordered by the vectors themselves. Of 50,000 vectors of texts, an ef_search of 80 found
  -- 0.99 of the ten nearest, and 150 all.
  -- Filters apply after the index, so HNSW (pgvector 0.8) keeps reading until the limit is reached.
  -- IVFFlat reads up to 20 lists in full. Higher values set by an operator are kept.
  if v_iterative_scan is not null then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  end if;
  perform set_config(
    'hnsw.ef_search',
    greatest(v_ef_search::integer, least(600, greatest(150, 5 * depth)))::text, true
  );
  select o.option_value::integer into v_lists
  from pg_class as c
  cross join lateral pg_options_to_table(c.reloptions) as o
  where c.oid = memory.vector_index(memory_type) and o.option_name = 'lists';
  perform set_config('ivfflat.probes', greatest(v_probes::integer, v_lists / 5, 20)::text, true);

  -- A statement for each type, because only for a constant type a generic plan uses its index.
  if memory_type = 'fact' then
    return query
    with nearest as materialized (
      select f.id, 1 - (f.embedding <=> approximate_neighbors.embedding) as weight, f.created_at
      from memory.facts as f
      where f.validity = 'active'
        and f.tenant_id = v_tenant_id
        and f.embedding is not null
        and memory.is_in_scope('fact', f.scope, approximate_neighbors.scope)
        and (
          approximate_neighbors.min_confidence = 0
          or memory.effective_confidence(f.confidence, f.decay_rate, f.last_confirmed_at, as_of)
            >= approximate_neighbors.min_confidence
        )
      order by l2_normalize(f.embedding)::halfvec(384) <=> v_embedding
      limit depth
    )
    select n.id, n.weight, n.created_at
    from nearest as n
    order by n.weight desc, n.created_at desc, n.id;
  elsif memory_type = 'rule' then
    return query
    with nearest as materialized (
      select r.id, 1 - (r.embedding <=> approximate_neighbors.embedding) as weight, r.created_at
      from memory.rules as r
      where r.lifecycle_state <> 'retracted'
        and r.tenant_id = v_tenant_id
        and r.embedding is not null
        and memory.is_in_scope('rule', r.scope, approximate_neighbors.scope)
        and (
          approximate_neighbors.min_confidence = 0
          or memory.effective_confidence(r.confidence, r.decay_rate, r.last_confirmed_at, as_of)
            >= approximate_neighbors.min_confidence
        )
      order by l2_normalize(r.embedding)::halfvec(384) <=> v_embedding
      limit depth
    )
    select n.id, n.weight, n.created_at
    from nearest as n
    order by n.weight desc, n.created_at desc, n.id;
  elsif memory_type = 'episode' then
    return query
    with nearest as materialized (
      select e.id, 1 - (e.embedding <=> approximate_neighbors.embedding) as weight, e.created_at
      from memory.episodes as e
      where e.tenant_id = v_tenant_id
        and e.embedding is not null
        and (e.expires_at is null or e.expires_at > as_of)
        and memory.is_in_scope('episode', e.butler, approximate_neighbors.scope)
      order by l2_normalize(e.embedding)::halfvec(384) <=> v_embedding
      limit depth
    )
    select n.id, n.weight, n.created_at
    from nearest as n
    order by n.weight desc, n.created_at desc, n.id;
  elsif memory_type = 'entry' then
    return query
    with nearest as materialized (
      select n.id, 1 - (n.embedding <=> approximate_neighbors.embedding) as weight, n.created_at
      from memory.entries as n
      where n.lifecycle_state = 'active'
        and n.tenant_id = v_tenant_id
        and n.embedding is not null
        and (n.expires_at is null or n.expires_at > as_of)
        and memory.is_in_scope('entry', n.scope, approximate_neighbors.scope)
        and n.confidence >= approximate_neighbors.min_confidence
      order by l2_normalize(n.embedding)::halfvec(384) <=> v_embedding
      limit depth
    )
    select m.id, m.weight, m.created_at
    from nearest as m
    order by m.weight desc, m.created_at desc, m.id;
  else
    -- Any other type, until it is worth a branch of its own.
    return query
    select n.*
    from memory.exact_neighbors(
      memory_type, embedding, scope, depth, min_confidence, as_of
    ) as n;
  end if;

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
'The same through an HNSW or IVFFlat index: may miss some and may return fewer than depth.';
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
  v_index regclass := memory.vector_index(memory_type);
begin
  if v_index is null
    or not (select i.indisvalid from pg_index as i where i.indexrelid = v_index)
  then
    return false;
  end if;
  return exact_scan_limit < (
    select c.documents from unnest(memory.corpus_sizes(array[memory_type])) as c
  );
end;
$$;

comment on function memory.use_approximate_index(text, integer) is
'Whether semantic search of a type should use an approximate index: a valid one exists '
'(memory.rebuild_vector_indexes) and the tenant has more live memories of the type than '
'exact_scan_limit.';
grant execute on function memory.use_approximate_index to memory_owner;

create or replace function memory.nearest_neighbors(
  memory_type text,
  embedding vector,
  scope text,
  depth integer,
  min_confidence float8,
  exact_scan_limit integer,
  as_of timestamptz
)
  returns setof memory.candidate
  language plpgsql
  stable
  rows 50 -- the default estimate of 1000 rows leads to worse joins
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_neighbors memory.candidate[];
begin
  if embedding is null then
    return;
  end if;
  if memory.use_approximate_index(memory_type, exact_scan_limit) then
    v_neighbors := array(
      select a
      from memory.approximate_neighbors(
        memory_type, embedding, scope, depth, min_confidence, as_of
      ) as a
    );
    if cardinality(v_neighbors) >= depth then
      return query select n.* from unnest(v_neighbors) as n;
      return;
    end if;
    -- Too few: only an exact scan shows whether there are more.
  end if;
  return query
  select n.*
  from memory.exact_neighbors(
    memory_type, embedding, scope, depth, min_confidence, as_of
  ) as n;
end;
$$;

comment on function memory.nearest_neighbors(
  text, vector, text, integer, float8, integer, timestamptz
) is
'The depth live memories of one type nearest to a vector, or all if there are fewer, whichever '
'index exists. No rows if embedding is NULL.';
grant execute on function memory.nearest_neighbors to memory_owner;

-- The only query across tenants: it returns a number, not the name of a tenant.
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
'The largest number of vectors of one type that any tenant has.';
grant execute on function memory.largest_tenant_size to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

commit;
