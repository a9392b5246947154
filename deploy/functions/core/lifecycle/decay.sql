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
  -- width_bucket evaluates its argument once, so this can be inlined although the argument is
  -- expensive.
  return (array['expired', 'fading', 'active'])[
    1 + width_bucket(
      effective_confidence,
      array[expiry_threshold, greatest(expiry_threshold, fading_threshold)]
    )
  ];

comment on function memory.decayed_state(float8, float8, float8) is
'The state of a live memory by its effective confidence: below expiry_threshold expired, else '
'below fading_threshold fading, else active.';
grant execute on function memory.decayed_state
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.begin_plans(
  tenant_id text,
  plan_ids uuid[],
  known_from timestamptz,
  other_ids uuid[],
  as_of timestamptz
)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_locked uuid[];
  v_id uuid;
  v_fact memory.facts;
  v_held memory.facts;
begin
  -- All at once: nobody locks two facts against their order.
  v_locked := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = begin_plans.tenant_id
      and f.id in (
        select k.id
        from memory.facts as p
        join memory.facts as k
          on k.tenant_id = p.tenant_id and k.scope = p.scope and k.predicate_key = p.predicate_key
            and (
              k.entity_id = p.entity_id
              or k.entity_id is null and p.entity_id is null and k.subject_key = p.subject_key
            )
        where p.tenant_id = begin_plans.tenant_id and p.id = any (plan_ids)
          and (
            k.validity = 'active'
            or k.validity = 'superseded' and k.valid_to > least(p.valid_from, known_from)
          )
        union all
        select unnest(other_ids)
      )
    order by f.id
    for no key update
  );

  foreach v_id in array plan_ids loop
    -- Somebody else may have been faster, or have forgotten it.
    select f.* into v_fact
    from memory.facts as f
    where f.tenant_id = begin_plans.tenant_id and f.id = v_id
      and f.planned_for <= as_of and f.validity = 'active';
    continue when not found;
    select f.* into v_held
    from memory.facts as f
    where f.tenant_id = v_fact.tenant_id and f.scope = v_fact.scope
      and f.predicate_key = v_fact.predicate_key
      and case
        when v_fact.entity_id is null
        then f.entity_id is null and f.subject_key = v_fact.subject_key
        else f.entity_id = v_fact.entity_id
      end
      and f.planned_for is null and f.validity = 'active';

    -- What was stored meanwhile, as of a later time, goes on; so does what holds if the plan ended
    -- before it began.
    if v_held.valid_from > v_fact.valid_from or v_fact.valid_to <= v_fact.valid_from then
      if (v_fact.valid_to <= v_fact.valid_from) is not true then
        perform memory.end_earlier(
          v_fact.tenant_id, v_fact.scope, v_fact.subject, v_fact.entity_id, v_fact.predicate,
          array[v_fact.valid_from], as_of
        );
      end if;
      update memory.facts as f
      set
        planned_for = null,
        decay_rate = memory.decay_rate_of(f.permanence),
        validity = 'superseded',
        metadata = f.metadata - 'status',
        valid_to = least(
          f.valid_to,
          memory.next_start(
            f.tenant_id, f.scope, f.subject, f.entity_id, f.predicate, f.valid_from
          )
        ),
        updated_at = memory.next_state_at(f.updated_at, as_of)
      where f.tenant_id = v_fact.tenant_id and f.id = v_fact.id;
      continue;
    end if;
    update memory.facts as f
    set
      validity = 'superseded',
      metadata = f.metadata - 'status',
      valid_to = least(f.valid_to, v_fact.valid_from),
      updated_at = memory.next_state_at(f.updated_at, as_of)
    where f.tenant_id = v_held.tenant_id and f.id = v_held.id;
    update memory.facts as f
    set
      planned_for = null,
      decay_rate = memory.decay_rate_of(f.permanence),
      last_confirmed_at = greatest(f.last_confirmed_at, f.valid_from),
      supersedes_id = coalesce(f.supersedes_id, v_held.id),
      updated_at = memory.next_state_at(f.updated_at, as_of)
    where f.tenant_id = v_fact.tenant_id and f.id = v_fact.id;
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    select v_fact.tenant_id, 'fact', v_fact.id, 'fact', v_held.id, 'supersedes'
    where v_held.id is not null
    on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
  end loop;
  return v_locked;
end;
$$;

comment on function memory.begin_plans(text, uuid[], timestamptz, uuid[], timestamptz) is
'Lets plans whose keys are locked hold, in this order: each supersedes what held under its key '
'until it began, or is history already if something else was stored as of a later time. Locks '
'other_ids with the facts that it changes and those of the same keys that held after known_from '
'(NULL: only those that may change). Returns what it has locked.';

create or replace function memory.begin_planned_facts(
  settings memory.settings,
  as_of timestamptz
)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_due uuid[] := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = settings.tenant_id and f.planned_for <= as_of
      and f.validity = 'active'
    order by f.planned_for, f.id
  );
begin
  if v_due = '{}' then
    return null;
  end if;
  -- Locks in the order of memory.store_fact, and with them the facts that the sweep changes.
  perform memory.lock_entities_of_facts(settings.tenant_id, v_due);
  perform memory.lock_keys_of_facts(settings.tenant_id, v_due);
  return memory.begin_plans(
    settings.tenant_id, v_due, null,
    (select d.ids from memory.due_memories('fact', settings, as_of) as d), as_of
  );
end;
$$;

comment on function memory.begin_planned_facts(memory.settings, timestamptz) is
'memory.begin_plans for all plans of a tenant that have begun at as_of. Returns the facts that it '
'has locked, those that are due for a sweep among them; NULL if none begins.';

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
  v_locked uuid[];
begin
  perform memory.check_write_time('as_of', as_of);
  v_locked := memory.begin_planned_facts(v_settings, as_of);
  return query
  select t.memory_type, s.*
  from unnest(memory.decaying_type_names()) with ordinality as t (memory_type, place)
  cross join lateral memory.sweep_memories(
    t.memory_type, case when t.memory_type = 'fact' then v_locked end, v_settings, as_of
  ) as s
  order by t.place;
end;
$$;

comment on function memory.run_decay_sweep(timestamptz) is
'Updates the states of all decaying facts and rules by their effective confidence at as_of: below '
'fading_threshold (0.2) they fade, at or above it they recover, below expiry_threshold (0.05) a '
'fact expires and a rule is forgotten. A fact whose valid_to has passed also expires. A planned '
'fact that has begun supersedes what held until then (memory.begin_planned_facts). Permanent '
'memories and anti-patterns do not change. Writes only rows whose state changes, so that of two '
'runs at once the second changes nothing more; at most 10,000 facts and 10,000 rules, besides '
'plans that have begun: call it again, in a new transaction, until it changes none. Returns for '
'facts and for rules how many were checked, faded, expired (rules: forgotten) and recovered. '
'Errors: PM002 invalid time.';
grant execute on function memory.run_decay_sweep to memory_worker;

create or replace function memory.state_expression(ended_condition text)
  returns text
  language sql
  immutable
  parallel safe
  return format(
    $state$
      case
        when %s then 'expired'
        else memory.decayed_state(
          memory.effective_confidence(
            m.confidence, m.decay_rate, coalesce(m.last_confirmed_at, m.created_at), $1
          ),
          $2, $3
        )
      end
    $state$,
    ended_condition
  );

comment on function memory.state_expression(text) is
'SQL for the state that a row m should have at $1, by fading_threshold $2 and expiry_threshold $3.';

-- The statements are put together for the table of the type, and so planned each time: tenants
-- differ in size by orders of magnitude.
create or replace function memory.due_memories(
  memory_type text,
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
  set jit = off -- compiling takes longer than it saves on a million rows
as $$
declare
  v_type memory.memory_types;
begin
  select t.* into v_type
  from memory.memory_types as t
  where t.memory_type = due_memories.memory_type;
  return query execute format(
    'select d.checked, array(select i.id from unnest(d.ids) as i (id) order by i.id limit 10000)
     from (
       select count(*) as checked, array_agg(m.id) filter (where m.lifecycle_state <> %s) as ids
       from memory.%I as m
       where m.tenant_id = $4 and %s
     ) as d',
    memory.state_expression(v_type.ended_condition), v_type.table_name, v_type.decaying_condition
  )
  using as_of, settings.fading_threshold, settings.expiry_threshold, settings.tenant_id;
end;
$$;

comment on function memory.due_memories(text, memory.settings, timestamptz) is
'How many memories of a type decay or have ended, and which of them should be in another state: at '
'most 10,000, those with the lowest ids.';

-- One pass without locks finds what is due. That is locked in the order of ids and looked at once
-- more: others may have been faster.
create or replace function memory.sweep_memories(
  memory_type text,
  among uuid[],
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
  v_type memory.memory_types;
  v_due uuid[];
  v_fading uuid[];
  v_expired uuid[];
  v_recovered uuid[];
begin
  select t.* into v_type
  from memory.memory_types as t
  where t.memory_type = sweep_memories.memory_type;
  select d.checked, d.ids into checked, v_due
  from memory.due_memories(memory_type, settings, as_of) as d;
  -- What has become due since others were locked comes with the next sweep: to wait for it with these
  -- locks could be a deadlock.
  if among is not null then
    v_due := array(select unnest(v_due) intersect select unnest(among));
  end if;

  execute format(
    $due$
      select
        array_agg(d.id) filter (where d.state = 'fading'),
        array_agg(d.id) filter (where d.state = 'expired'),
        array_agg(d.id) filter (where d.state = 'active')
      from (
        select m.id, m.lifecycle_state, %s as state
        from memory.%I as m
        where m.tenant_id = $4 and m.id = any ($5) and %s
        order by m.id
        for no key update
      ) as d
      where d.state <> d.lifecycle_state
    $due$,
    memory.state_expression(v_type.ended_condition), v_type.table_name, v_type.decaying_condition
  )
  into v_fading, v_expired, v_recovered
  using as_of, settings.fading_threshold, settings.expiry_threshold, v_tenant_id, v_due;

  execute format(
    'update memory.%I as m
     set metadata = m.metadata || ''{"status": "fading"}'',
       updated_at = memory.next_state_at(m.updated_at, $1)
     where m.tenant_id = $2 and m.id = any ($3)',
    v_type.table_name
  ) using as_of, v_tenant_id, v_fading;
  execute format(
    'update memory.%I as m
     set metadata = m.metadata - ''status'',
       updated_at = memory.next_state_at(m.updated_at, $1)
     where m.tenant_id = $2 and m.id = any ($3)',
    v_type.table_name
  ) using as_of, v_tenant_id, v_recovered;
  execute format(
    'update memory.%I as m
     set %s, updated_at = memory.next_state_at(m.updated_at, $1)
     where m.tenant_id = $2 and m.id = any ($3)',
    v_type.table_name, v_type.expire_assignments
  ) using as_of, v_tenant_id, v_expired;

  fading := coalesce(cardinality(v_fading), 0)::bigint;
  expired := coalesce(cardinality(v_expired), 0)::bigint;
  recovered := coalesce(cardinality(v_recovered), 0)::bigint;
  return next;
end;
$$;

comment on function memory.sweep_memories(text, uuid[], memory.settings, timestamptz) is
'The part of memory.run_decay_sweep for one type of memory. among: only these; NULL: all.';

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
'memory.run_decay_sweep for every tenant, once and in one transaction; for a worker that may set '
'the tenant. Errors: PM005 a login bound to one tenant, PM002 invalid time.';
grant execute on function memory.run_decay_sweep_all_tenants to memory_worker;

commit;
