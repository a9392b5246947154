-- Deploy pymem:functions/core/store/locks to pg

begin;

set local role memory_owner;

create or replace function memory.lock_fact_key(
  tenant_id text,
  scope text,
  subject text,
  entity_id uuid,
  predicate text,
  planned_for timestamptz default null
)
  returns uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_active_id uuid;
begin
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  values (
    lock_fact_key.tenant_id, lock_fact_key.scope,
    memory.fact_anchor(lock_fact_key.entity_id, memory.spelling_key(lock_fact_key.subject)),
    memory.predicate_key(lock_fact_key.predicate)
  )
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;

  -- Two statements, one for each unique index.
  if lock_fact_key.entity_id is null then
    select f.id into v_active_id
    from memory.facts as f
    where f.tenant_id = lock_fact_key.tenant_id and f.scope = lock_fact_key.scope
      and f.subject_key = memory.spelling_key(lock_fact_key.subject)
      and f.predicate_key = memory.predicate_key(lock_fact_key.predicate)
      and f.planned_for is not distinct from lock_fact_key.planned_for
      and f.entity_id is null and f.validity = 'active';
  else
    select f.id into v_active_id
    from memory.facts as f
    where f.tenant_id = lock_fact_key.tenant_id and f.entity_id = lock_fact_key.entity_id
      and f.scope = lock_fact_key.scope
      and f.predicate_key = memory.predicate_key(lock_fact_key.predicate)
      and f.planned_for is not distinct from lock_fact_key.planned_for
      and f.validity = 'active';
  end if;
  return v_active_id;
end;
$$;

comment on function memory.lock_fact_key(text, text, text, uuid, text, timestamptz) is
'Prevents another active fact of a key until the end of the transaction; returns the id of the '
'active one, or of what is planned for a time, NULL for none. (store_fact takes the same lock '
'itself.)';

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AM03,AM09,RF01,ST06
create or replace function memory.facts_of_key(
  tenant_id text,
  scope text,
  subject_key text,
  entity_id uuid,
  predicate_key text,
  valid_from timestamptz
)
  returns setof uuid
  language sql
  stable
  rows 2
begin atomic
  select k.id
  from (
    select f.id
    from memory.facts as f
    where facts_of_key.entity_id is null and f.tenant_id = facts_of_key.tenant_id
      and f.subject_key = facts_of_key.subject_key and f.predicate_key = facts_of_key.predicate_key
      and f.scope = facts_of_key.scope and f.entity_id is null
      and (
        f.validity = 'active'
        or f.validity = 'superseded' and f.valid_from <= facts_of_key.valid_from
          and f.valid_to > facts_of_key.valid_from
      )
    union all
    select f.id
    from memory.facts as f
    where f.tenant_id = facts_of_key.tenant_id and f.entity_id = facts_of_key.entity_id
      and f.predicate_key = facts_of_key.predicate_key and f.scope = facts_of_key.scope
      and (
        f.validity = 'active'
        or f.validity = 'superseded' and f.valid_from <= facts_of_key.valid_from
          and f.valid_to > facts_of_key.valid_from
      )
  ) as k
  offset 0; -- looks up one key after the other
end;

-- noqa: enable=AM03,AM09,RF01,ST06

comment on function memory.facts_of_key(text, text, text, uuid, text, timestamptz) is
'The facts that storing one under a key may change: those that are active or planned, and the '
'superseded ones that a fact ends which comes late and begins at valid_from (NULL: none). What a '
'plan that has begun ends is not among them. With keys that a call computes for each row, row '
'security lets no index find them: compute these first.';

-- The key-share lock conflicts with a merge of an entity, which locks it FOR UPDATE; the state is
-- read after the lock.
create or replace function memory.lock_entities(
  tenant_id text,
  entity_ids uuid[],
  name text default null
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad record;
begin
  if array_remove(entity_ids, null) = '{}' then
    return;
  end if;
  perform
  from memory.entities as e
  where e.tenant_id = lock_entities.tenant_id and e.id = any (entity_ids)
  order by e.id
  for key share;

  select
    i.id || coalesce(' of ' || name || ' ' || (i.ordinality + 1) / 2, '') as which,
    e.metadata ->> 'merged_into' as merged_into
  into v_bad
  from unnest(entity_ids) with ordinality as i (id, ordinality)
  left join memory.entities as e on e.tenant_id = lock_entities.tenant_id and e.id = i.id
  where i.id is not null and (e.id is null or e.metadata ? 'merged_into')
  order by i.ordinality
  limit 1;
  if v_bad.merged_into is not null then
    raise exception 'entity % was merged into %', v_bad.which, v_bad.merged_into
      using errcode = 'PM003', hint = 'Use the entity it was merged into.';
  elsif found then
    raise exception 'entity % does not exist', v_bad.which
      using errcode = 'PM001', hint = 'Pass the id of an existing entity, or leave entity_id out.';
  end if;
end;
$$;

comment on function memory.lock_entities(text, uuid[], text) is
'Prevents a merge or deletion of entities until the end of the transaction; NULL is valid. With a '
'name such as "fact", the message says which of several is meant; each has two of the entities. '
'Errors: PM001 unknown entity, PM003 merged away.';

create or replace function memory.lock_entities_of_facts(
  tenant_id text,
  fact_ids uuid[],
  entity_ids uuid[] default '{}'
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
  from memory.entities as e
  where e.tenant_id = lock_entities_of_facts.tenant_id
    and e.id = any (
      entity_ids || array(
        select u.id
        from memory.facts as f
        cross join lateral (values (f.entity_id), (f.object_entity_id)) as u (id)
        where f.tenant_id = lock_entities_of_facts.tenant_id and f.id = any (fact_ids)
          and u.id is not null
      )
    )
  order by e.id
  for key share;
$$;

comment on function memory.lock_entities_of_facts(text, uuid[], uuid[]) is
'Prevents a merge or deletion of some entities, and of those that facts are about or have as '
'object. Before a transaction that updates the facts twice locks them: its second update of a row '
'checks the foreign keys again, and must not wait for a merge that waits for the facts.';

create or replace function memory.lock_sources(
  tenant_id text,
  episode_ids uuid[],
  name text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_missing record;
begin
  if array_remove(episode_ids, null) = '{}' then
    return;
  end if;
  perform
  from memory.episodes as e
  where e.tenant_id = lock_sources.tenant_id and e.id = any (episode_ids)
  order by e.id
  for key share;

  select i.id, i.ordinality into v_missing
  from unnest(episode_ids) with ordinality as i (id, ordinality)
  left join memory.episodes as e on e.tenant_id = lock_sources.tenant_id and e.id = i.id
  where i.id is not null and e.id is null
  order by i.ordinality
  limit 1;
  if found then
    raise exception 'no episode has id %, the source of % %', v_missing.id, name, v_missing.ordinality
      using errcode = 'PM001',
        hint = 'Leave source_episode_id out, or pass the id that store_episode returned.';
  end if;
end;
$$;

comment on function memory.lock_sources(text, uuid[], text) is
'Prevents deletion of the source episodes of several memories until the end of the transaction; '
'NULL is valid. Errors: PM001 unknown episode; the message says of which memory.';

commit;
