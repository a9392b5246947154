-- Deploy pymem:functions/core/lifecycle/decay to pg

begin;

set local role memory_owner;

create or replace function memory.decayed_state(
  effective_confidence float8,
  fading_threshold float8,
  expiry_threshold float8
)
  returns text
  language sql
  immutable
  parallel safe
  -- Short for two comparisons, and so inlined although its argument is dear.
  return (array['expired', 'fading', 'active'])[
    1 + width_bucket(
      effective_confidence,
      array[expiry_threshold, greatest(expiry_threshold, fading_threshold)]
    )
  ];

comment on function memory.decayed_state(float8, float8, float8) is
'What an effective confidence makes of a live memory: below expiry_threshold expired, else below '
'fading_threshold fading, else active.';
grant execute on function memory.decayed_state
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.run_decay_sweep(as_of timestamptz default now())
  returns table (
    memory_type text,
    checked bigint,
    fading bigint,
    expired bigint,
    recovered bigint
  )
  language plpgsql
  volatile
  rows 2
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
begin
  perform memory.check_write_time('as_of', as_of);
  return query select 'fact', s.* from memory.sweep_facts(v_settings, as_of) as s;
  return query select 'rule', s.* from memory.sweep_rules(v_settings, as_of) as s;
end;
$$;

comment on function memory.run_decay_sweep(timestamptz) is
'Brings the states of all facts and rules that decay up to date with their effective confidence at '
'as_of: below fading_threshold (0.2) they fade, at or above it they recover, below '
'expiry_threshold (0.05) a fact expires and a rule is forgotten. A fact whose valid_to has come '
'expires too. Permanent ones and anti-patterns stay as they are. Only rows whose state changes are '
'written, so a second run, also one at the same time, changes nothing more. Returns for facts and '
'for rules how many were checked, and how many it let fade, expire (be forgotten) and recover. '
'Errors: PM002 invalid time.';
grant execute on function memory.run_decay_sweep to memory_worker;

-- One pass without locks finds what is due. That is locked in the order of ids and looked at once
-- more: others may have been faster.

create or replace function memory.due_facts(
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    checked bigint,
    ids uuid[]
  )
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- tenants differ in size by orders of magnitude
  set jit = off -- compiling takes longer than it saves on a million rows
as $$
begin
  return query
  select
    count(*),
    array_agg(f.id) filter (
      where f.valid_to <= as_of or f.decay_rate > 0 and f.lifecycle_state <> memory.decayed_state(
        memory.effective_confidence(
          f.confidence, f.decay_rate, coalesce(f.last_confirmed_at, f.created_at), as_of
        ),
        settings.fading_threshold, settings.expiry_threshold
      )
    )
  from memory.facts as f
  where f.tenant_id = settings.tenant_id and f.validity = 'active'
    and (f.decay_rate > 0 or f.valid_to <= as_of);
end;
$$;

comment on function memory.due_facts(memory.settings, timestamptz) is
'How many facts decay or hold no more, and those whose state should be another.';

create or replace function memory.sweep_facts(
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    checked bigint,
    fading bigint,
    expired bigint,
    recovered bigint
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := settings.tenant_id;
  v_due uuid[];
  v_fading uuid[];
  v_expired uuid[];
  v_recovered uuid[];
begin
  select d.checked, d.ids into checked, v_due from memory.due_facts(settings, as_of) as d;

  select
    array_agg(d.id) filter (where d.state = 'fading'),
    array_agg(d.id) filter (where d.state = 'expired'),
    array_agg(d.id) filter (where d.state = 'active')
  into v_fading, v_expired, v_recovered
  from (
    select
      f.id,
      f.lifecycle_state,
      case
        when f.valid_to <= as_of then 'expired'
        else memory.decayed_state(
          memory.effective_confidence(
            f.confidence, f.decay_rate, coalesce(f.last_confirmed_at, f.created_at), as_of
          ),
          settings.fading_threshold, settings.expiry_threshold
        )
      end as state
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.id = any (v_due)
      and f.validity = 'active' and (f.decay_rate > 0 or f.valid_to <= as_of)
    order by f.id
    for no key update
  ) as d
  where d.state <> d.lifecycle_state;

  update memory.facts as f
  set
    metadata = f.metadata || '{"status": "fading"}',
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = v_tenant_id and f.id = any (v_fading);
  update memory.facts as f
  set
    metadata = f.metadata - 'status',
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = v_tenant_id and f.id = any (v_recovered);
  update memory.facts as f
  set
    validity = 'expired',
    metadata = f.metadata - 'status',
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = v_tenant_id and f.id = any (v_expired);

  fading := coalesce(cardinality(v_fading), 0)::bigint;
  expired := coalesce(cardinality(v_expired), 0)::bigint;
  recovered := coalesce(cardinality(v_recovered), 0)::bigint;
  return next;
end;
$$;

comment on function memory.sweep_facts(memory.settings, timestamptz) is
'The facts'' part of memory.run_decay_sweep.';

create or replace function memory.due_rules(
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    checked bigint,
    ids uuid[]
  )
  language plpgsql
  stable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- tenants differ in size by orders of magnitude
  set jit = off -- compiling takes longer than it saves on a million rows
as $$
begin
  return query
  select
    count(*),
    array_agg(r.id) filter (
      where r.lifecycle_state <> memory.decayed_state(
        memory.effective_confidence(
          r.confidence, r.decay_rate, coalesce(r.last_confirmed_at, r.created_at), as_of
        ),
        settings.fading_threshold, settings.expiry_threshold
      )
    )
  from memory.rules as r
  where r.tenant_id = settings.tenant_id and r.lifecycle_state <> 'retracted' and r.maturity <> 'anti_pattern'
    and r.decay_rate > 0;
end;
$$;

comment on function memory.due_rules(memory.settings, timestamptz) is
'How many rules decay, and those whose state is not that of their effective confidence.';

create or replace function memory.sweep_rules(
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    checked bigint,
    fading bigint,
    expired bigint,
    recovered bigint
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := settings.tenant_id;
  v_due uuid[];
  v_fading uuid[];
  v_expired uuid[];
  v_recovered uuid[];
begin
  select d.checked, d.ids into checked, v_due from memory.due_rules(settings, as_of) as d;

  select
    array_agg(d.id) filter (where d.state = 'fading'),
    array_agg(d.id) filter (where d.state = 'expired'),
    array_agg(d.id) filter (where d.state = 'active')
  into v_fading, v_expired, v_recovered
  from (
    select
      r.id,
      r.lifecycle_state,
      memory.decayed_state(
        memory.effective_confidence(
          r.confidence, r.decay_rate, coalesce(r.last_confirmed_at, r.created_at), as_of
        ),
        settings.fading_threshold, settings.expiry_threshold
      ) as state
    from memory.rules as r
    where r.tenant_id = v_tenant_id and r.id = any (v_due)
      and r.lifecycle_state <> 'retracted' and r.maturity <> 'anti_pattern'
      and r.decay_rate > 0
    order by r.id
    for no key update
  ) as d
  where d.state <> d.lifecycle_state;

  update memory.rules as r
  set
    metadata = r.metadata || '{"status": "fading"}',
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = v_tenant_id and r.id = any (v_fading);
  update memory.rules as r
  set
    metadata = r.metadata - 'status',
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = v_tenant_id and r.id = any (v_recovered);
  update memory.rules as r
  set
    metadata = (r.metadata - 'status') || '{"forgotten": true}',
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = v_tenant_id and r.id = any (v_expired);

  fading := coalesce(cardinality(v_fading), 0)::bigint;
  expired := coalesce(cardinality(v_expired), 0)::bigint;
  recovered := coalesce(cardinality(v_recovered), 0)::bigint;
  return next;
end;
$$;

comment on function memory.sweep_rules(memory.settings, timestamptz) is
'The rules'' part of memory.run_decay_sweep.';

create or replace function memory.run_decay_sweep_all_tenants(as_of timestamptz default now())
  returns table (
    tenant_id text,
    memory_type text,
    checked bigint,
    fading bigint,
    expired bigint,
    recovered bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_before text := current_setting('memory.tenant_id', true);
begin
  for tenant_id in select t.tenant_id from memory.list_tenants() as t order by t.tenant_id loop
    perform memory.set_request(tenant_id => run_decay_sweep_all_tenants.tenant_id);
    return query
    select run_decay_sweep_all_tenants.tenant_id, s.* from memory.run_decay_sweep(as_of) as s;
  end loop;
  perform set_config('memory.tenant_id', coalesce(v_before, ''), true);
end;
$$;

comment on function memory.run_decay_sweep_all_tenants(timestamptz) is
'memory.run_decay_sweep for every tenant, in one transaction; for a worker that may name tenants. '
'Errors: PM005 a login of one tenant, PM002 invalid time.';
grant execute on function memory.run_decay_sweep_all_tenants to memory_worker;

commit;
