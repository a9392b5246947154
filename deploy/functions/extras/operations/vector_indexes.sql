-- Deploy pymem:functions/extras/operations/vector_indexes to pg

begin;

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

-- Like memory.largest_tenant_size, a query across tenants that returns only a number.
create or replace function memory.count_vectors(memory_type text)
  returns bigint
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select count(*)
  from memory.searchable_memories as m
  where m.is_live and m.memory_type = count_vectors.memory_type and m.embedding is not null;
$$;

comment on function memory.count_vectors(text) is
'How many live memories of a type have a vector, in all tenants together.';
grant execute on function memory.count_vectors to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.vector_indexes()
  returns table (
    memory_type text,
    index_name text,
    method text,
    is_valid boolean
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    t.memory_type,
    memory.vector_index_name(t.memory_type),
    coalesce(a.amname::text, 'exact'),
    i.indisvalid and i.indisready and i.indislive
  from unnest(memory.memory_type_names()) as t (memory_type)
  left join pg_class as c on c.oid = memory.vector_index(t.memory_type)
  left join pg_index as i on i.indexrelid = c.oid
  left join pg_am as a on a.oid = c.relam
  order by t.memory_type;
$$;

comment on function memory.vector_indexes() is
'How the vectors of each memory type are indexed: the method (ivfflat, hnsw; exact: no approximate '
'index) and whether the index is valid (NULL for exact).';

create or replace function memory.choose_lists(vectors bigint)
  returns integer
  language sql
  immutable
  parallel safe
  return greatest(20, least(vectors / 1000, sqrt(vectors)));

comment on function memory.choose_lists(bigint) is
'The number of lists of an IVFFlat index over this many vectors: a thousandth of them, above a '
'million their square root (as pgvector advises), but at least 20.';

create or replace function memory.vector_index_statements(
  method text,
  lists integer default null
)
  returns table (statement text)
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_word('method', method, '{exact,ivfflat,hnsw}');
  if lists is not null then
    perform memory.check_number('lists', lists, 1, 32768);
    if method <> 'ivfflat' then
      raise exception 'method % has no lists', method
        using errcode = 'PM002', hint = 'Leave lists out, or pass method => ''ivfflat''.';
    end if;
  end if;

  return query
  with targets as (
    select v.memory_type, v.index_name, t.table_name, t.condition
    from memory.vector_indexes() as v
    join (
      select
        m.memory_type, m.table_name,
        coalesce(
          ' where ' || replace(nullif(m.live_condition, 'true'), 'm.', ''), ''
        ) as condition
      from memory.memory_types as m
    ) as t using (memory_type)
  ),
  steps as (
    select
      1 as step,
      t.memory_type,
      format('drop index concurrently if exists memory.%I', t.index_name) as statement
    from targets as t
    union all
    select
      2,
      t.memory_type,
      format(
        'create index concurrently %I on memory.%I '
        'using %s ((public.l2_normalize(embedding)::public.halfvec(384)) '
        'public.halfvec_cosine_ops) with (%s)%s',
        t.index_name,
        t.table_name,
        vector_index_statements.method,
        case
          when vector_index_statements.method = 'hnsw' then 'm = 16, ef_construction = 100'
          else format('lists = %s', coalesce(
            vector_index_statements.lists, memory.choose_lists(memory.count_vectors(t.memory_type))
          ))
        end,
        t.condition
      )
    from targets as t
    where vector_index_statements.method <> 'exact'
  )
  select s.statement from steps as s order by s.step, s.memory_type;
end;
$$;

comment on function memory.vector_index_statements(text, integer) is
'The statements that drop the approximate indexes and build those of a method (exact, ivfflat or '
'hnsw; lists: see memory.rebuild_vector_indexes), one per row. If the owner runs them in psql with '
'\gexec, they do not block readers and writers; searches compare all vectors until an index is '
'valid. Errors: PM002.';
grant execute on function memory.vector_index_statements to memory_admin;

create or replace function memory.choose_method(method text)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select case
    when choose_method.method <> 'auto' then choose_method.method
    when memory.largest_tenant_size() > (memory.setting_defaults()).exact_scan_limit then 'hnsw'
    else 'exact'
  end;
$$;

comment on function memory.choose_method(text) is
'The method of memory.rebuild_vector_indexes for this argument, as large as the tenants are now.';

create or replace function memory.lock_for_rebuild(method text)
  returns text
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set lock_timeout = 0 -- set below, for this function alone
as $$
declare
  v_tables text[] := array(
    select format('memory.%I', t.table_name)
    from memory.memory_types as t
    where t.is_searched
    order by t.position
  );
  v_order text[] := v_tables;
  v_deadlock_ms numeric
    := extract(epoch from current_setting('deadlock_timeout')::interval) * 1000;
  v_until timestamptz;
  v_nowait text;
  v_holds_some boolean := exists (
    select from pg_locks as l
    where l.pid = pg_backend_pid() and l.relation = any (v_tables::regclass[])
  );
  v_begun timestamptz;
  v_table text;
  v_method text;
  v_mode text;
begin
  -- What the transaction has locked before, it keeps from others all the while.
  v_until := clock_timestamp() + case when v_holds_some then '10 s' else '5 min' end::interval;
  loop
    v_begun := clock_timestamp();
    begin
      -- One rebuild at a time. Autovacuum gives way to whoever waits for longer than
      -- deadlock_timeout; but who keeps the other rebuild waiting must not wait for it.
      v_table := v_order[1];
      perform set_config('lock_timeout', '5min', true);
      execute format(
        'lock table %s in share update exclusive mode %s',
        array_to_string(v_tables, ', '), case when v_holds_some then 'nowait' end
      );
      v_method := memory.choose_method(lock_for_rebuild.method);
      v_mode := case
        when exists (select from memory.vector_indexes() as i where i.method <> 'exact')
        then 'access exclusive'
        when v_method <> 'exact' then 'share'
      end;
      exit when v_mode is null;
      v_begun := clock_timestamp();
      -- While it waits for the first one, it keeps nobody waiting but behind it.
      perform set_config('lock_timeout', greatest(1, round(v_deadlock_ms / 2)) || 'ms', true);
      execute format('lock table %s in %s mode', v_table, v_mode);
      -- Somebody who waits looks for a deadlock once, after deadlock_timeout. Until those who have
      -- just begun to wait do so, it can wait for the other tables; but not if some waited before.
      v_nowait := case
        when exists (
          select from pg_locks as l
          where not l.granted and l.pid <> pg_backend_pid()
            and l.waitstart < clock_timestamp() - v_deadlock_ms * 0.55 * interval '1 ms'
        )
        then 'nowait'
      end;
      perform set_config('lock_timeout', greatest(1, round(v_deadlock_ms / 8)) || 'ms', true);
      foreach v_table in array v_order[2:] loop
        execute format('lock table %s in %s mode %s', v_table, v_mode, v_nowait);
      end loop;
      exit;
    exception when lock_not_available then
      -- Gives back all that it has got, so that whoever waits for it goes on.
      if clock_timestamp() > v_until then
        raise;
      end if;
    end;
    -- Next time it waits for this one before it has any. Until then others get as much time as it
    -- has kept them waiting.
    v_order := v_table || array_remove(v_order, v_table);
    perform pg_sleep(greatest(0.05, extract(epoch from clock_timestamp() - v_begun)));
  end loop;
  return v_method;
end;
$$;

comment on function memory.lock_for_rebuild(text) is
'Locks the tables of all types of memories, all or none, for memory.rebuild_vector_indexes, and '
'returns the method that it is to use. Statements lock tables in many orders, and some of them '
'while others wait: so this waits for the first one at most half of deadlock_timeout, for the '
'others an eighth each, and not at all if somebody else might look for a deadlock meanwhile. If it '
'does not get one, it gives all back for as long as that took, and begins with this one. Errors: '
'55P03 not within five minutes (ten seconds in a transaction that has used the tables before).';

create or replace function memory.rebuild_vector_indexes(
  method text default 'auto',
  lists integer default null
)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about a missing index
as $$
declare
  v_method text;
  v_statement text;
begin
  perform memory.check_word('method', method, '{auto,exact,ivfflat,hnsw}');
  -- Takes all locks before any work: a deadlock with a writer would waste a half-built index.
  v_method := memory.lock_for_rebuild(method);
  for v_statement in
    select replace(s.statement, ' concurrently', '')
    from memory.vector_index_statements(v_method, lists) as s
  loop
    execute v_statement;
  end loop;
  return v_method;
end;
$$;

comment on function memory.rebuild_vector_indexes(text, integer) is
'Sets how semantic search finds vectors, and builds the indexes; returns the method. exact: '
'compares all vectors of the tenant, perfect recall, best up to exact_scan_limit. hnsw: an '
'approximate index for larger tenants. ivfflat: an approximate index that splits the vectors into '
'lists (1..32768; default: a thousandth of their number, above a million its square root, but at '
'least 20), of which a search reads a fifth, at least 20. auto: hnsw if any tenant is that large, '
'else exact. All or nothing: an interrupted build leaves the indexes as they were. Until it ends, '
'writers wait, and so does memory.recall, which counts references; if an index is replaced, every '
'search waits: memory.vector_index_statements avoids this. Errors: PM002, 55P03 if others keep the '
'tables locked for minutes.';
grant execute on function memory.rebuild_vector_indexes to memory_admin;

create or replace function memory.time_neighbors(
  way text,
  memory_type text,
  embedding vector,
  depth integer,
  as_of timestamptz
)
  returns table (
    weights float8[],
    milliseconds float8
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_exact_scan_limit integer := (memory.current_settings()).exact_scan_limit;
  v_started timestamptz := clock_timestamp();
begin
  case way
    when 'exact' then
      weights := array(
        select n.weight
        from memory.exact_neighbors(memory_type, embedding, null, depth, 0, as_of) as n
      );
    when 'index' then
      weights := array(
        select n.weight
        from memory.approximate_neighbors(memory_type, embedding, null, depth, 0, as_of) as n
      );
    when 'search' then
      weights := array(
        select n.weight
        from memory.nearest_neighbors(
          memory_type, embedding, null, depth, 0, v_exact_scan_limit, as_of
        ) as n
      );
  end case;
  milliseconds := date_part('epoch', clock_timestamp() - v_started) * 1000;
  return next;
end;
$$;

comment on function memory.time_neighbors(text, text, vector, integer, timestamptz) is
'The similarities of the depth nearest memories of the tenant, nearest first, and the time to find '
'them: by comparing all ("exact"), by the approximate index ("index") or as searches do '
'("search").';

create or replace function memory.measure_index_recall(
  sample integer default 20,
  depth integer default 10,
  as_of timestamptz default now()
)
  returns table (
    memory_type text,
    method text,
    is_valid boolean,
    is_used boolean,
    memories bigint,
    queries bigint,
    index_overlap float8,
    worst_index_overlap float8,
    short_index_answers bigint,
    search_overlap float8,
    worst_search_overlap float8,
    short_searches bigint,
    exact_ms float8,
    index_ms float8,
    search_ms float8
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_exact_scan_limit integer := (memory.current_settings()).exact_scan_limit;
begin
  perform memory.check_number('sample', sample, 1, 1000);
  perform memory.check_number('depth', depth, 1, 1000);
  perform memory.check_time('as_of', as_of);

  return query
  with counted as (
    select m.memory_type, count(*) as memories
    from memory.searchable_memories as m
    where m.is_live
      and m.tenant_id = v_tenant_id
      and m.embedding is not null
      and (m.expires_at is null or m.expires_at > as_of)
    group by m.memory_type
  ),
  asked as (
    select i.memory_type, i.is_valid, q.embedding
    from memory.vector_indexes() as i
    cross join lateral (
      select m.embedding
      from memory.searchable_memories as m
      where m.is_live
        and m.tenant_id = v_tenant_id
        and m.memory_type = i.memory_type
        and m.embedding is not null
        and (m.expires_at is null or m.expires_at > as_of)
      order by hashtextextended(m.id::text, 0), m.id
      limit sample
    ) as q
  ),
  answered as materialized (
    select
      a.memory_type,
      cardinality(e.weights) as places,
      -- Whatever is as near as the last of the exact answer counts as found: ties are
      -- interchangeable.
      e.weights[cardinality(e.weights)] as last_weight,
      i.weights as index_weights,
      s.weights as search_weights,
      e.milliseconds as exact_ms,
      i.milliseconds as index_ms,
      s.milliseconds as search_ms
    from asked as a
    cross join lateral memory.time_neighbors(
      'exact', a.memory_type, a.embedding, depth, as_of
    ) as e
    left join lateral (
      select t.weights, t.milliseconds
      from memory.time_neighbors('index', a.memory_type, a.embedding, depth, as_of) as t
      where a.is_valid
    ) as i on true
    cross join lateral memory.time_neighbors(
      'search', a.memory_type, a.embedding, depth, as_of
    ) as s
  ),
  compared as (
    select
      a.*,
      (select count(*) from unnest(a.index_weights) as w where w >= a.last_weight)::float8
        / a.places as index_overlap,
      (select count(*) from unnest(a.search_weights) as w where w >= a.last_weight)::float8
        / a.places as search_overlap
    from answered as a
  )
  select
    i.memory_type,
    i.method,
    i.is_valid,
    memory.use_approximate_index(i.memory_type, v_exact_scan_limit),
    coalesce(max(n.memories), 0),
    count(c.places),
    avg(c.index_overlap) filter (where i.is_valid),
    min(c.index_overlap) filter (where i.is_valid),
    case
      when i.is_valid then count(*) filter (where cardinality(c.index_weights) < c.places)
    end,
    avg(c.search_overlap),
    min(c.search_overlap),
    count(*) filter (where cardinality(c.search_weights) < c.places),
    percentile_cont(0.5) within group (order by c.exact_ms),
    percentile_cont(0.5) within group (order by c.index_ms),
    percentile_cont(0.5) within group (order by c.search_ms)
  from memory.vector_indexes() as i
  left join counted as n using (memory_type)
  left join compared as c using (memory_type)
  group by i.memory_type, i.method, i.is_valid
  order by i.memory_type;
end;
$$;

comment on function memory.measure_index_recall(integer, integer, timestamptz) is
'How approximate indexes affect the answers of this tenant, one row per memory type: searches for '
'the depth (1..1000) memories nearest to each of a sample (1..1000) of its own vectors, selected '
'by hash, so always the same. method, is_valid: of the index; is_used: whether searches of this '
'tenant use it because it has more memories than exact_scan_limit. memories: with a vector, live '
'and not expired. Overlaps, 0..1: the share of the exact answer that was found, on average and for '
'the worst query, by the raw index (NULL without a valid one) and by searches. '
'short_index_answers, short_searches: answers with fewer memories than exist, up to depth; the '
'latter is always 0. exact_ms, index_ms, search_ms: median milliseconds of comparing all, of the '
'raw index and of searches. Errors: PM002.';
grant execute on function memory.measure_index_recall to memory_admin;

commit;
