-- Deploy pymem:functions/extras/operations/metrics to pg

begin;

set local role memory_owner;

create or replace function memory.tenant_metrics(as_of timestamptz)
  returns table (
    name text,
    labels jsonb,
    value float8
  )
  language sql
  stable
  strict
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with states as (
    select 'episode' as memory_type, e.consolidation_status::text as state, count(*) as memories
    from memory.episodes as e
    where e.tenant_id = memory.current_tenant()
    group by e.consolidation_status
    union all
    select 'fact', f.lifecycle_state, count(*)
    from memory.facts as f
    where f.tenant_id = memory.current_tenant()
    group by f.lifecycle_state
    union all
    select 'rule', r.state, count(*)
    from (
      select case s.lifecycle_state when 'retracted' then 'forgotten' else s.maturity end as state
      from memory.rules as s
      where s.tenant_id = memory.current_tenant()
    ) as r
    group by r.state
    union all
    select 'entry', e.lifecycle_state, count(*)
    from memory.entries as e
    where e.tenant_id = memory.current_tenant()
    group by e.lifecycle_state
  ),
  queue as (
    select q.target, count(*) as memories, min(q.enqueued_at) as oldest_at
    from memory.embedding_queue as q
    where q.tenant_id = memory.current_tenant()
    group by q.target
  ),
  waiting as (
    select min(e.created_at) as oldest_at
    from memory.episodes as e
    where e.tenant_id = memory.current_tenant()
      and (e.consolidation_status = 'pending' or e.consolidation_status = 'failed')
  )
  select
    'pymem_memories', jsonb_build_object('type', s.memory_type, 'state', s.state),
    s.memories::float8
  from states as s
  union all
  select
    'pymem_embedding_backlog', jsonb_build_object('target', t.target),
    coalesce(q.memories, 0)::float8
  from (values ('active'), ('building')) as t (target)
  left join queue as q on q.target = t.target
  union all
  select
    'pymem_oldest_unembedded_seconds', '{}'::jsonb,
    coalesce(
      greatest(0.0, extract(epoch from as_of - min(q.oldest_at))), 0.0
    )::float8
  from queue as q
  union all
  select
    'pymem_consolidation_pending', '{}'::jsonb, coalesce(sum(s.memories), 0)::float8
  from states as s
  where s.memory_type = 'episode' and s.state in ('pending', 'failed')
  union all
  select
    'pymem_consolidation_dead_letters', '{}'::jsonb, coalesce(sum(s.memories), 0)::float8
  from states as s
  where s.memory_type = 'episode' and s.state = 'dead_letter'
  union all
  select
    'pymem_oldest_unconsolidated_seconds', '{}'::jsonb,
    coalesce(greatest(0.0, extract(epoch from as_of - w.oldest_at)), 0.0)::float8
  from waiting as w
  union all
  select 'pymem_unsealed_events', '{}'::jsonb, count(*)::float8
  from memory.unsealed_events(memory.current_tenant()) as e;
$$;

comment on function memory.tenant_metrics(timestamptz) is
'The part of memory.metrics for the tenant of the request.';

create or replace function memory.metrics(
  all_tenants boolean default false,
  as_of timestamptz default now()
)
  returns table (
    name text,
    labels jsonb,
    value float8
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off -- compiling takes longer than it saves
as $$
declare
  v_before text := current_setting('memory.tenant_id', true);
  v_found jsonb := jsonb_build_array();
  v_tenant_id text;
begin
  perform memory.check_time('as_of', as_of);
  if all_tenants is null then
    raise exception 'all_tenants is null' using errcode = 'PM002', hint = 'Pass true or false.';
  end if;
  if not all_tenants then
    return query select m.name, m.labels, m.value from memory.tenant_metrics(as_of) as m;
    return;
  end if;

  for v_tenant_id in select t.tenant_id from memory.list_tenants() as t order by t.tenant_id loop
    perform set_config('memory.tenant_id', v_tenant_id, true);
    -- Summed up tenant by tenant, so that it stays as small as for one.
    select jsonb_agg(jsonb_build_array(s.name, s.labels, s.value))
    into v_found
    from (
      select
        m.name, m.labels,
        case when m.name like '%\_seconds' then max(m.value) else sum(m.value) end as value
      from (
        select t.name, t.labels, t.value from memory.tenant_metrics(as_of) as t
        union all
        select f.found ->> 0, f.found -> 1, (f.found ->> 2)::float8
        from jsonb_array_elements(v_found) as f (found)
      ) as m
      group by m.name, m.labels
    ) as s;
  end loop;
  perform set_config('memory.tenant_id', coalesce(v_before, ''), true);

  return query
  select f.found ->> 0, f.found -> 1, (f.found ->> 2)::float8
  from jsonb_array_elements(v_found) as f (found);
end;
$$;

comment on function memory.metrics(boolean, timestamptz) is
'Numbers for monitoring, one row each, named as Prometheus shows them: pymem_memories (labels type '
'and state), pymem_embedding_backlog (target: active or building), '
'pymem_oldest_unembedded_seconds, pymem_consolidation_pending, pymem_consolidation_dead_letters, '
'pymem_oldest_unconsolidated_seconds and pymem_unsealed_events. No row says which tenant, scope or '
'text. all_tenants: over all tenants (sums; of seconds the longest), for a login that may act for '
'each. It reads what it counts: do not call it more than twice a minute. Errors: PM002, PM005.';
grant execute on function memory.metrics to memory_reader, memory_worker, memory_admin;

commit;
