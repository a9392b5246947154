-- Deploy pymem:functions/core/lifecycle/restore to pg

begin;

set local role memory_owner;

create or replace function memory.restore_memory(
  memory_type text,
  memory_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
begin
  perform memory.check_word('memory_type', memory_type, memory.memory_type_names());
  perform memory.check_write_time('as_of', as_of);
  -- Without a lock, which comes after those of the entity and the key.
  if memory.created_at_of(v_tenant_id, memory_type, memory_id) is null then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, memory_type, memory_id, as_of);

  -- What it takes differs by type: memory.restore_episode, memory.restore_fact, ...
  execute format('select memory.%I($1, $2, $3)', 'restore_' || memory_type)
  using v_settings, memory_id, as_of;
  return memory.memory_exists(v_tenant_id, memory_type, memory_id);
end;
$$;

comment on function memory.restore_memory(text, uuid, timestamptz) is
'Restores a memory: a fact that was retracted, superseded or has expired, if no other fact is '
'active under its key; a forgotten rule; an episode that has expired, for another full term; an '
'entry that was deleted within the last 30 days, has expired or was archived. Counts as a '
'confirmation, so that the next decay sweep does not remove it again unless it was stored with a '
'confidence below expiry_threshold. Returns true, even if there was nothing to restore, and false '
'if no memory has this id. Errors: PM002 invalid argument, PM003 the key of the fact is taken, its '
'entity was merged into another, or the entry was deleted too long ago, PM008 a guarded entry that '
'has expired.';
grant execute on function memory.restore_memory to memory_writer;

create or replace function memory.restore_episode(
  settings memory.settings,
  episode_id uuid,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.episodes as e
  set
    expires_at = as_of + make_interval(secs => settings.episode_ttl_days * 86400),
    updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = settings.tenant_id and e.id = episode_id and e.expires_at <= as_of;
$$;

comment on function memory.restore_episode(memory.settings, uuid, timestamptz) is
'Gives an expired episode another term.';

create or replace function memory.restore_rule(
  settings memory.settings,
  rule_id uuid,
  as_of timestamptz
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  update memory.rules as r
  set
    metadata = r.metadata - '{status,forgotten}'::text [],
    last_confirmed_at = greatest(r.last_confirmed_at, as_of),
    updated_at = memory.next_state_at(r.updated_at, as_of)
  where r.tenant_id = settings.tenant_id and r.id = rule_id and r.lifecycle_state = 'retracted';
$$;

comment on function memory.restore_rule(memory.settings, uuid, timestamptz) is
'Makes a forgotten rule active again, confirmed as of as_of.';

create or replace function memory.restore_fact(
  settings memory.settings,
  fact_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_key record;
  v_fact record;
  v_other uuid;
begin
  -- A merge or its undoing, for which this waits, changes the entity: all entities that the fact
  -- has been about are locked, and its key is read after that. Locks are taken in the order of
  -- memory.store_fact.
  perform
  from memory.entities as e
  where e.tenant_id = settings.tenant_id
    and e.id in (
      select f.entity_id
      from memory.facts as f
      where f.tenant_id = settings.tenant_id and f.id = fact_id
      union all
      select u.id
      from memory.entity_merge_facts as c
      join memory.entity_merges as m on m.tenant_id = settings.tenant_id and m.id = c.merge_id
      cross join lateral unnest(array[m.source_entity_id, m.target_entity_id]) as u (id)
      where c.tenant_id = settings.tenant_id and c.fact_id = restore_fact.fact_id
        and c.change = 'moved'
    )
  order by e.id
  for key share;
  select f.subject, f.predicate, f.scope, f.entity_id, f.planned_for into v_key
  from memory.facts as f
  where f.tenant_id = settings.tenant_id and f.id = fact_id;
  if not found then
    return;
  end if;
  perform memory.lock_entities(settings.tenant_id, array[v_key.entity_id]);
  v_other := memory.lock_fact_key(
    settings.tenant_id, v_key.scope, v_key.subject, v_key.entity_id, v_key.predicate,
    v_key.planned_for
  );
  perform
  from memory.facts as f
  where f.tenant_id = settings.tenant_id and f.id in (fact_id, v_other)
  order by f.id
  for no key update;
  perform memory.end_facts(settings.tenant_id, array_remove(array[v_other], fact_id), as_of);
  v_other := (
    select f.id
    from memory.facts as f
    where f.tenant_id = settings.tenant_id and f.id = v_other and f.validity = 'active'
  );
  select
    f.entity_id,
    -- Its own end, not the one that its successor gave it.
    case
      when h.image is null then f.valid_to else (h.image ->> 'valid_to')::timestamptz
    end as valid_to
  into v_fact
  from memory.facts as f
  left join lateral (
    select m.image
    from memory.memory_history as m
    where m.tenant_id = settings.tenant_id and m.memory_type = 'fact' and m.memory_id = fact_id
      and m.image ->> 'validity' = 'active'
    order by m.known_from desc
    limit 1
  ) as h on true
  where f.tenant_id = settings.tenant_id and f.id = fact_id;
  if v_fact.entity_id is distinct from v_key.entity_id then
    raise exception 'fact % came under the key of entity % meanwhile', fact_id, v_fact.entity_id
      using errcode = 'PM003', hint = 'Look at the fact with memory.get_memory, then try again.';
  end if;
  if v_other <> fact_id then
    raise exception 'fact % cannot be restored: fact % is active under its key', fact_id, v_other
      using errcode = 'PM003',
        hint = format('Forget fact %s first if this one is right after all.', v_other);
  end if;

  update memory.facts as f
  set
    validity = 'active',
    metadata = f.metadata - 'status',
    last_confirmed_at = greatest(f.last_confirmed_at, as_of),
    valid_to = case when v_fact.valid_to > as_of then v_fact.valid_to end,
    updated_at = memory.next_state_at(f.updated_at, as_of)
  where f.tenant_id = settings.tenant_id and f.id = fact_id and f.validity <> 'active';
end;
$$;

comment on function memory.restore_fact(memory.settings, uuid, timestamptz) is
'Makes a fact active again; it holds until the end that it had by itself, if that is to come, and '
'else without end. Errors: PM003.';

commit;
