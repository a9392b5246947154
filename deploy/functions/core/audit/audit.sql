-- Deploy pymem:functions/core/audit/audit to pg

begin;

set local role memory_owner;

-- Any session can set memory.restoring, but only memory.start_restore writes the event.
create or replace function memory.has_begun_restore()
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return exists (
    select
    from memory.memory_events as e
    where e.tenant_id = memory.current_tenant()
      and e.event_type = 'restore_started' and e.created_at = now()
  );
end;
$$;

comment on function memory.has_begun_restore() is
'Whether this transaction has begun to restore an export (memory.start_restore).';

-- Every row that is stored asks for it: the planner makes the first test part of the statement.
create or replace function memory.is_restoring()
  returns boolean
  language sql
  stable
  return case
    when current_setting('memory.restoring', true) = 'on' then memory.has_begun_restore()
    else false
  end;

comment on function memory.is_restoring() is
'Whether memory.restore_rows writes rows of an export, in the transaction in which '
'memory.start_restore has begun it. Only then do rows keep their times and states, and come their '
'events from the export.';

-- Creation is audited per statement: for many rows that costs a fraction of a row trigger. The
-- events of a statement are ordered by id.

create or replace function memory.audit_created()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.is_restoring() then
    return null;
  end if;
  if tg_argv[0] = 'fact' then
    if exists (select from new_rows as n where n.lifecycle_state = 'superseded') then
      insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
      select
        c.tenant_id,
        coalesce(
          (
            select t.event_type
            from memory.transitions as t
            where t.memory_type = 'fact' and t.aspect = 'lifecycle_state'
              and t.from_state = e.from_state and t.to_state = e.to_state
          ),
          memory.refuse_transition('fact', c.id, 'lifecycle_state', e.from_state, e.to_state)
        ),
        'fact',
        c.id,
        jsonb_build_object('from', e.from_state, 'to', e.to_state)
      from (
        select
          n.tenant_id, n.id, n.lifecycle_state,
          -- The same statement created it: a foreign key rules out an earlier successor.
          case n.lifecycle_state when 'superseded' then (
            select f.id
            from memory.facts as f
            where f.tenant_id = n.tenant_id and f.supersedes_id = n.id
            order by f.id
            limit 1
          ) end as successor_id
        from new_rows as n
      ) as c
      cross join lateral (values
        (
          c.id, 2, '[*]', case when c.successor_id is null then c.lifecycle_state else 'active' end
        ),
        (c.successor_id, 1, 'active', 'superseded')
      ) as e (at_id, step, from_state, to_state)
      where e.at_id is not null
      order by e.at_id, e.step, c.id, c.tenant_id;
      return null;
    end if;
  end if;

  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    n.tenant_id,
    coalesce(
      (
        select t.event_type
        from memory.transitions as t
        where t.memory_type = tg_argv[0] and t.aspect = 'lifecycle_state'
          and t.from_state = '[*]' and t.to_state = n.lifecycle_state
      ),
      memory.refuse_transition(tg_argv[0], n.id, 'lifecycle_state', '[*]', n.lifecycle_state)
    ),
    tg_argv[0],
    n.id,
    jsonb_build_object('from', '[*]', 'to', n.lifecycle_state)
  from new_rows as n
  order by n.id, n.tenant_id;
  return null;
end;
$$;

comment on function memory.audit_created() is
'Statement trigger: writes the event that memory.transitions declares for the initial state of '
'each created row. A fact that is created together with its successor was active until then: it '
'gets both events, the second one just before that of the successor. Argument: the memory type. '
'Errors: PM003 undeclared state.';

create or replace function memory.audit_transition()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    perform memory.write_transition(
      old.tenant_id, tg_argv[0], old.id, 'lifecycle_state', old.lifecycle_state, '[*]'
    );
  else
    perform memory.write_transition(
      new.tenant_id, tg_argv[0], new.id, 'lifecycle_state', old.lifecycle_state,
      new.lifecycle_state
    );
  end if;
  return null;
end;
$$;

comment on function memory.audit_transition() is
'Trigger: rejects changes of lifecycle_state that memory.transitions does not declare, and writes '
'the events of those that it does. Argument: the memory type. Errors: PM003.';

-- memory.entity_merge and memory.entity_unmerge update the entity last, once all counts are known.
create or replace function memory.audit_merge()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_merge record;
begin
  select
    m.source_entity_id, m.target_entity_id, m.facts_repointed, m.facts_superseded, m.aliases_added,
    m.historical_facts_moved, m.mentions_repointed
  into v_merge
  from memory.entity_merges as m
  where m.tenant_id = new.tenant_id and m.source_entity_id = new.id
    and (m.unmerged_at is null) = (new.lifecycle_state = 'merged')
  order by coalesce(m.unmerged_at, m.merged_at) desc, m.id
  limit 1;

  perform memory.write_transition(
    new.tenant_id, 'entity', new.id, 'lifecycle_state', old.lifecycle_state, new.lifecycle_state,
    case when found then to_jsonb(v_merge) else '{}' end
  );
  return null;
end;
$$;

comment on function memory.audit_merge() is
'Trigger: like audit_transition, for an entity that is merged or unmerged. The event names both '
'entities and counts what the merge changed. Errors: PM003.';

create or replace function memory.audit_maturity()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_transition(
    new.tenant_id, 'rule', new.id, 'maturity', old.maturity, new.maturity
  );
  return null;
end;
$$;

comment on function memory.audit_maturity() is
'Trigger: like audit_transition, for the maturity of a rule. Errors: PM003.';

create or replace function memory.write_transition(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  aspect text,
  from_state text,
  to_state text,
  details jsonb default '{}'
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    write_transition.tenant_id, t.event_type, write_transition.memory_type,
    write_transition.memory_id,
    jsonb_build_object('from', write_transition.from_state, 'to', write_transition.to_state)
    || write_transition.details
  from memory.transitions as t
  where t.memory_type = write_transition.memory_type
    and t.aspect = write_transition.aspect
    and t.from_state = write_transition.from_state
    and t.to_state = write_transition.to_state;
  if not found then
    perform memory.refuse_transition(memory_type, memory_id, aspect, from_state, to_state);
  end if;
end;
$$;

comment on function memory.write_transition(text, text, uuid, text, text, text, jsonb) is
'Writes the event that memory.transitions declares for an edge, with details in its payload. '
'Errors: PM003 undeclared edge.';

create or replace function memory.refuse_transition(
  memory_type text,
  memory_id uuid,
  aspect text,
  from_state text,
  to_state text
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception '% % cannot go from % to %', memory_type, memory_id, from_state, to_state
    using errcode = 'PM003',
      hint = coalesce(
        'From ' || from_state || ' it can go to: ' || (
          select string_agg(t.to_state, ', ' order by t.to_state)
          from memory.transitions as t
          where t.memory_type = refuse_transition.memory_type
            and t.aspect = refuse_transition.aspect
            and t.from_state = refuse_transition.from_state
            and t.to_state <> '[*]'
        ) || '.',
        'No transition leaves ' || from_state || '.'
      );
end;
$$;

comment on function memory.refuse_transition(text, uuid, text, text, text) is
'Raises PM003: memory.transitions does not declare this edge. It never returns; its return type '
'lets it replace a missing event type in an expression.';

create or replace function memory.write_event(
  tenant_id text,
  event_type text,
  memory_type text,
  memory_id uuid,
  payload jsonb
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  values (
    write_event.tenant_id, write_event.event_type, write_event.memory_type, write_event.memory_id,
    write_event.payload
  );
end;
$$;

comment on function memory.write_event(text, text, text, uuid, jsonb) is
'Appends an event. Actor, login, request id, reason and time come from the transaction.';

create or replace function memory.audit_event()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_event(new.tenant_id, tg_argv[1], tg_argv[0], new.id, '{}');
  return null;
end;
$$;

comment on function memory.audit_event() is
'Trigger: writes an event. Arguments: memory type, event type.';

-- Fires only if content changes or an operator intervenes, so the cost of to_jsonb is acceptable.
create or replace function memory.audit_update()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_event(
    new.tenant_id, tg_argv[0] || '_updated', tg_argv[0], new.id,
    jsonb_build_object('changed', (
      select jsonb_agg(n.key order by n.key)
      from jsonb_each(to_jsonb(new)) as n
      join jsonb_each(to_jsonb(old)) as o on o.key = n.key
      where n.value is distinct from o.value
        and n.key not in (
          'search_vector', 'asymmetric_score', 'reference_count', 'last_referenced_at', 'updated_at'
        )
    ))
  );
  return null;
end;
$$;

comment on function memory.audit_update() is
'Trigger: writes <type>_updated with the names of the changed columns. Argument: the memory type.';

create or replace function memory.audit_rule_application()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.is_restoring() then
    return null;
  end if;
  perform memory.write_event(
    new.tenant_id, 'rule_' || new.outcome, 'rule', new.rule_id,
    jsonb_build_object('rule_application_id', new.id)
  );
  return null;
end;
$$;

comment on function memory.audit_rule_application() is
'Trigger: writes rule_helpful, rule_harmful, rule_neutral or rule_skipped.';

create or replace function memory.audit_proposal()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_proposal memory.consolidation_proposals := case tg_op when 'DELETE' then old else new end;
begin
  perform memory.write_event(
    v_proposal.tenant_id,
    case
      when tg_op = 'INSERT' then 'proposal_created'
      when tg_op = 'DELETE' then 'proposal_deleted'
      when new.status = old.status then 'proposal_updated'
      else 'proposal_' || new.status
    end,
    v_proposal.memory_type, v_proposal.memory_id,
    jsonb_build_object(
      'run_id', v_proposal.run_id, 'position', v_proposal.position, 'action', v_proposal.action
    )
  );
  return null;
end;
$$;

comment on function memory.audit_proposal() is
'Trigger: writes an event for a proposal of consolidation that is kept, gets more evidence, is '
'accepted, rejected or deleted; memory_id is the fact or rule that it would change.';

create or replace function memory.audit_created_links()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.is_restoring() then
    return null;
  end if;
  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    n.tenant_id, 'link_created', n.source_type, n.source_id,
    jsonb_build_object(
      'source_type', n.source_type, 'source_id', n.source_id,
      'target_type', n.target_type, 'target_id', n.target_id,
      'relation', n.relation
    )
  from new_rows as n
  order by
    n.source_type, n.source_id, n.relation desc, n.target_type, n.target_id, n.tenant_id;
  return null;
end;
$$;

comment on function memory.audit_created_links() is
'Statement trigger: writes link_created with both ends and the relation.';

create or replace function memory.audit_link()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_is_moved boolean := tg_op = 'UPDATE' and (
    old.tenant_id, old.source_type, old.source_id, old.target_type, old.target_id
  ) is distinct from (
    new.tenant_id, new.source_type, new.source_id, new.target_type, new.target_id
  );
  v_event record;
begin
  for v_event in
    select e.event_type, e.link
    from (values
      (1, tg_op = 'DELETE' or v_is_moved, 'link_deleted', old),
      (2, v_is_moved, 'link_created', new),
      (3, tg_op = 'UPDATE' and not v_is_moved, 'link_updated', new)
    ) as e (place, applies, event_type, link)
    where e.applies
    order by e.place
  loop
    perform memory.write_event(
      (v_event.link).tenant_id, v_event.event_type, (v_event.link).source_type,
      (v_event.link).source_id,
      to_jsonb(v_event.link) - '{tenant_id,created_at}'::text []
    );
  end loop;
  return null;
end;
$$;

comment on function memory.audit_link() is
'Trigger: writes link_updated or link_deleted with both ends and the relation. A link whose ends '
'change is deleted and created.';

create or replace function memory.hide_values(
  changed jsonb,
  hidden text[]
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    jsonb_object_agg(
      c.key,
      case
        when c.key = any (hidden) and c.value not in ('""', '[]', '{}')
        then to_jsonb(octet_length(c.value::text) || ' octets')
        else c.value
      end
    ),
    '{}'
  )
  from jsonb_each(changed) as c;
$$;

comment on function memory.hide_values(jsonb, text[]) is
'An object with only the length of the values under some keys, unless they are empty.';

create or replace function memory.audit_settings()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_said text[] := array['tenant_id', 'created_at']; -- columns of the event itself
  v_new jsonb := case when tg_op = 'DELETE' then '{}' else to_jsonb(new) - v_said end;
  v_old jsonb := case when tg_op = 'INSERT' then '{}' else to_jsonb(old) - v_said end;
  v_hidden text[] := tg_argv[1:];
begin
  -- A row that moves to another tenant is deleted for the old one and created for the new one.
  if tg_op = 'UPDATE' and new.tenant_id <> old.tenant_id then
    perform memory.write_event(
      old.tenant_id, tg_argv[0] || '_deleted', null, null,
      jsonb_build_object('old', memory.hide_values(v_old, v_hidden), 'new', '{}'::jsonb)
    );
    perform memory.write_event(
      new.tenant_id, tg_argv[0] || '_created', null, null,
      jsonb_build_object('old', '{}'::jsonb, 'new', memory.hide_values(v_new, v_hidden))
    );
    return null;
  end if;
  perform memory.write_event(
    case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end,
    tg_argv[0] || case tg_op
      when 'INSERT' then '_created' when 'DELETE' then '_deleted' else '_updated'
    end,
    null, null,
    jsonb_build_object(
      'old', (
        select memory.hide_values(jsonb_object_agg(o.key, o.value), v_hidden)
        from jsonb_each(v_old) as o
        where v_new -> o.key is distinct from o.value
      ),
      'new', (
        select memory.hide_values(jsonb_object_agg(n.key, n.value), v_hidden)
        from jsonb_each(v_new) as n
        where v_old -> n.key is distinct from n.value
      )
    )
  );
  return null;
end;
$$;

comment on function memory.audit_settings() is
'Trigger: writes <name>_created, _updated or _deleted with the old and new values of the changed '
'columns; for tables that hold configuration rather than content. Arguments: the name; columns of '
'free text, of which the event only has the length, because events cannot be erased.';

create or replace function memory.refuse_change()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- The rows of a tenant that is on another server go as a whole (memory.delete_rows).
  if tg_op = 'DELETE' then
    if exists (
      select from memory.tenant_moves as m
      where m.tenant_id = old.tenant_id and m.access = 'none'
    ) then
      return old;
    end if;
  end if;
  raise exception '% is append-only: % refused', tg_table_name, tg_op
    using errcode = 'PM006',
      hint = coalesce(tg_argv[0], 'Recorded history cannot change; insert a new row instead.');
end;
$$;

comment on function memory.refuse_change() is
'Trigger: rejects UPDATE, DELETE and TRUNCATE on an append-only table, but for the DELETE of rows '
'of a tenant that is on another server. Optional argument: the hint. Errors: PM006.';

create or replace function memory.assign_xid()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform pg_current_xact_id();
  return null;
end;
$$;

comment on function memory.assign_xid() is
'Trigger: gives the transaction its id before its events draw their numbers, so that '
'memory.seal_events can tell when no event with a smaller number is to come.';

-- An event instead of a setting: whoever pretends to erase leaves one, which cannot be removed.
create or replace function memory.is_erasing(tenant_id text)
  returns boolean
  language sql
  stable
  return exists (
    select
    from memory.memory_events as e
    where e.tenant_id = is_erasing.tenant_id -- noqa: RF01
      and e.event_type = 'erased' and e.created_at = now()
  );

comment on function memory.is_erasing(text) is
'Whether this transaction has written the event of an erasure. Only then can rows be deleted that '
'are otherwise kept.';

create or replace function memory.is_unmarking(
  tenant_id text,
  application_id uuid
)
  returns boolean
  language sql
  stable
  return exists (
    select
    from memory.memory_events as e
    where e.tenant_id = is_unmarking.tenant_id -- noqa: RF01
      and e.event_type = 'event_undone' and e.created_at = now()
      and e.payload -> 'rule_application_ids' ? application_id::text -- noqa: RF03
  );

comment on function memory.is_unmarking(text, uuid) is
'Whether this transaction has written the event of an undo that takes a mark of a rule back.';

create or replace function memory.refuse_loss_of_history()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if exists (
    select
    from (select distinct o.tenant_id from old_rows as o) as t
    where not memory.is_erasing(t.tenant_id)
      and exists (
        select
        from old_rows as o
        where o.tenant_id = t.tenant_id
          and memory.created_at_of(o.tenant_id, o.memory_type, o.memory_id) is not null
      )
  ) then
    raise exception '% is append-only: % refused', tg_table_name, tg_op
      using errcode = 'PM006',
        hint = 'History goes with its memory; memory.erase_subject deletes permanently.';
  end if;
  return null;
end;
$$;

comment on function memory.refuse_loss_of_history() is
'Statement trigger: rejects DELETE of the history of a memory that still exists, except in an '
'erasure. Errors: PM006.';

create or replace function memory.refuse_delete()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception '% cannot be deleted', tg_table_name
    using errcode = 'PM006',
      hint = 'Forget a memory with memory.forget_memory; memory.erase_subject deletes permanently.';
end;
$$;

comment on function memory.refuse_delete() is
'Trigger: rejects DELETE on tables whose rows are only forgotten or erased. Errors: PM006.';

create or replace function memory.refuse_truncate()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'TRUNCATE of % refused: it would leave no audit trail', tg_table_name
    using errcode = 'PM006', hint = 'Delete rows through the functions of the schema memory.';
end;
$$;

comment on function memory.refuse_truncate() is
'Trigger: rejects TRUNCATE, which fires no row triggers and so would escape the audit. Errors: '
'PM006.';

commit;
