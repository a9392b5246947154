-- Deploy pymem:functions/core/audit/record_history to pg

begin;

set local role memory_owner;

create or replace function memory.image_of(
  memory_type text,
  columns jsonb
)
  returns jsonb
  language sql
  immutable
  parallel safe
  return columns
    - '{
      tenant_id,id,created_at,updated_at,butler,session_id,source_class,subject,predicate,idempotency_key,
      source_episode_id,supersedes_id,embedding,embedding_version_id,search_vector,
      text_search_config,index_rendering,reference_count,last_referenced_at,retry_count,last_error,
      asymmetric_score
    }'::text []
    - case memory_type when 'rule' then '{}' else '{content}'::text [] end;

comment on function memory.image_of(text, jsonb) is
'Of the columns of a memory, a JSON object, those that its history keeps: what may change and is '
'no counter of references, nor follows from others or from deletions elsewhere.';

create or replace function memory.image_digest(image jsonb)
  returns bytea
  language sql
  immutable
  parallel safe
  return sha256(convert_to(image::text, 'UTF8'));

comment on function memory.image_digest(jsonb) is 'SHA-256 of an image, 32 octets.';

create or replace function memory.next_state_at(
  updated_at timestamptz,
  as_of timestamptz
)
  returns timestamptz
  language sql
  stable
  parallel safe
  return greatest(as_of, updated_at + interval '1 microsecond');

comment on function memory.next_state_at(timestamptz, timestamptz) is
'When the state of a memory begins that follows the one of updated_at, at as_of: later in any '
'case.';

-- Whoever changes a memory may say when, by updated_at; otherwise it is now. Either way the states
-- of a memory follow each other without gap or overlap.
create or replace function memory.start_state()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if new.updated_at is not distinct from old.updated_at then
    new.updated_at := now();
  end if;
  new.updated_at := memory.next_state_at(old.updated_at, new.updated_at);
  return new;
end;
$$;

comment on function memory.start_state() is
'Trigger: dates a changed memory (updated_at), later than it was dated before.';

-- A statement at a time, and for nothing if it only counted references: then no state has begun.
-- One function a table, because the columns differ and only the trigger itself sees the rows. The
-- images hold what memory.image_of leaves of the rows, which are not asked for all they have: their
-- vectors would have to be read from where they are stored.

create or replace function memory.record_episode_changes()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- so that the same state has the same image in every session
as $$
begin
  if not exists (
    select
    from old_rows as o
    join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
    where n.updated_at <> o.updated_at
  ) then
    return null;
  end if;

  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    n.tenant_id,
    coalesce(
      (
        select t.event_type
        from memory.transitions as t
        where t.memory_type = 'episode' and t.aspect = 'lifecycle_state'
          and t.from_state = o.lifecycle_state and t.to_state = n.lifecycle_state
      ),
      memory.refuse_transition('episode', n.id, 'lifecycle_state', o.lifecycle_state, n.lifecycle_state)
    ),
    'episode',
    n.id,
    jsonb_build_object('from', o.lifecycle_state, 'to', n.lifecycle_state)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  where n.lifecycle_state <> o.lifecycle_state
  order by n.id, n.tenant_id;

  insert into memory.memory_history
    (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
  select
    o.tenant_id, 'episode', o.id, o.updated_at, n.updated_at, b.image, memory.image_digest(a.image)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      o.importance, o.consolidated, o.consolidation_status, o.consolidation_attempts,
      o.last_consolidation_error, o.next_consolidation_retry_at, o.lifecycle_state,
      o.expires_at, o.metadata
    ) as s
  ) as b
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      n.importance, n.consolidated, n.consolidation_status, n.consolidation_attempts,
      n.last_consolidation_error, n.next_consolidation_retry_at, n.lifecycle_state,
      n.expires_at, n.metadata
    ) as s
  ) as a
  where n.updated_at <> o.updated_at
  order by o.id, o.tenant_id;
  return null;
end;
$$;

comment on function memory.record_episode_changes() is
'Trigger of a statement on episodes: refuses a change of lifecycle_state that memory.transitions '
'does not declare, writes the event of one that it does, and keeps what each changed episode said '
'until then. Errors: PM003.';

create or replace function memory.record_fact_changes()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- so that the same state has the same image in every session
as $$
begin
  if not exists (
    select
    from old_rows as o
    join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
    where n.updated_at <> o.updated_at
  ) then
    return null;
  end if;

  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    n.tenant_id,
    coalesce(
      (
        select t.event_type
        from memory.transitions as t
        where t.memory_type = 'fact' and t.aspect = 'lifecycle_state'
          and t.from_state = o.lifecycle_state and t.to_state = n.lifecycle_state
      ),
      memory.refuse_transition('fact', n.id, 'lifecycle_state', o.lifecycle_state, n.lifecycle_state)
    ),
    'fact',
    n.id,
    jsonb_build_object('from', o.lifecycle_state, 'to', n.lifecycle_state)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  where n.lifecycle_state <> o.lifecycle_state
  order by n.id, n.tenant_id;

  insert into memory.memory_history
    (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
  select
    o.tenant_id, 'fact', o.id, o.updated_at, n.updated_at, b.image, memory.image_digest(a.image)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      o.importance, o.confidence, o.decay_rate, o.permanence, o.source_butler, o.trust, o.entity_id,
      o.object_entity_id, o.validity, o.lifecycle_state, o.scope, o.last_confirmed_at,
      o.valid_from, o.valid_to, o.tags, o.metadata
    ) as s
  ) as b
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      n.importance, n.confidence, n.decay_rate, n.permanence, n.source_butler, n.trust, n.entity_id,
      n.object_entity_id, n.validity, n.lifecycle_state, n.scope, n.last_confirmed_at,
      n.valid_from, n.valid_to, n.tags, n.metadata
    ) as s
  ) as a
  where n.updated_at <> o.updated_at
  order by o.id, o.tenant_id;
  return null;
end;
$$;

comment on function memory.record_fact_changes() is
'Trigger of a statement on facts: refuses a change of lifecycle_state that memory.transitions does '
'not declare, writes the event of one that it does, and keeps what each changed fact said until '
'then. Errors: PM003.';

create or replace function memory.record_rule_changes()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- so that the same state has the same image in every session
as $$
begin
  if not exists (
    select
    from old_rows as o
    join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
    where n.updated_at <> o.updated_at
  ) then
    return null;
  end if;

  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    n.tenant_id,
    coalesce(
      (
        select t.event_type
        from memory.transitions as t
        where t.memory_type = 'rule' and t.aspect = 'lifecycle_state'
          and t.from_state = o.lifecycle_state and t.to_state = n.lifecycle_state
      ),
      memory.refuse_transition('rule', n.id, 'lifecycle_state', o.lifecycle_state, n.lifecycle_state)
    ),
    'rule',
    n.id,
    jsonb_build_object('from', o.lifecycle_state, 'to', n.lifecycle_state)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  where n.lifecycle_state <> o.lifecycle_state
  order by n.id, n.tenant_id;

  insert into memory.memory_history
    (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
  select
    o.tenant_id, 'rule', o.id, o.updated_at, n.updated_at, b.image, memory.image_digest(a.image)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      o.content, o.scope, o.maturity, o.importance, o.confidence, o.decay_rate,
      o.permanence, o.effectiveness_score, o.applied_count, o.success_count,
      o.harmful_count, o.source_butler, o.trust, o.lifecycle_state, o.last_applied_at,
      o.last_evaluated_at, o.last_confirmed_at, o.tags, o.metadata
    ) as s
  ) as b
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      n.content, n.scope, n.maturity, n.importance, n.confidence, n.decay_rate,
      n.permanence, n.effectiveness_score, n.applied_count, n.success_count,
      n.harmful_count, n.source_butler, n.trust, n.lifecycle_state, n.last_applied_at,
      n.last_evaluated_at, n.last_confirmed_at, n.tags, n.metadata
    ) as s
  ) as a
  where n.updated_at <> o.updated_at
  order by o.id, o.tenant_id;
  return null;
end;
$$;

comment on function memory.record_rule_changes() is
'Trigger of a statement on rules: refuses a change of lifecycle_state that memory.transitions does '
'not declare, writes the event of one that it does, and keeps what each changed rule said until '
'then. Errors: PM003.';

create or replace function memory.record_entity_changes()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- so that the same state has the same image in every session
as $$
begin
  insert into memory.memory_history
    (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
  select
    o.tenant_id, 'entity', o.id, o.updated_at, n.updated_at, b.image, memory.image_digest(a.image)
  from old_rows as o
  join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      o.canonical_name, o.entity_type, o.aliases, o.metadata, o.lifecycle_state
    ) as s
  ) as b
  cross join lateral (
    select to_jsonb(s) as image
    from (select
      n.canonical_name, n.entity_type, n.aliases, n.metadata, n.lifecycle_state
    ) as s
  ) as a
  where n.updated_at <> o.updated_at
  order by o.id, o.tenant_id;
  return null;
end;
$$;

comment on function memory.record_entity_changes() is
'Trigger of a statement on entities: keeps what each changed entity was called until then.';

create or replace function memory.delete_history()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.memory_history as h
  using old_rows as o
  where h.tenant_id = o.tenant_id and h.memory_type = tg_argv[0] and h.memory_id = o.id;
  return null;
end;
$$;

comment on function memory.delete_history() is
'Trigger: what is deleted leaves nothing of what it said. Argument: its type.';

commit;
