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
  return columns - memory.unrecorded_columns(memory_type);

comment on function memory.image_of(text, jsonb) is
'The columns of a memory, a JSON object, that its history keeps: those that may change, without '
'reference counters, derived columns and columns that change when other rows are deleted.';

create or replace function memory.image_digest(image jsonb)
  returns bytea
  language sql
  immutable
  parallel safe
  return sha256(convert_to(image::text, 'UTF8'));

comment on function memory.image_digest(jsonb) is 'SHA-256 of an image, 32 bytes.';

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
'When the next state of a memory begins: as_of, or just after updated_at if that is later.';

-- An update may set updated_at; otherwise it becomes now(). Either way the states of a memory have
-- neither gaps nor overlaps.
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
'Trigger: sets updated_at of a changed memory, always later than before.';

-- The recorder of a type runs per statement, and does nothing if the statement only counted
-- references, which begins no new state. Each type has its own recorder, generated here: only the
-- trigger function itself sees the transition tables, and images must name their columns, because
-- whole rows would detoast the vectors.
create or replace function memory.define_recorder(memory_type text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_old text;
  v_new text;
  v_details text := (
    select coalesce(' || (' || t.transition_details || ')', '')
    from memory.memory_types as t
    where t.memory_type = define_recorder.memory_type
  );
begin
  select
    string_agg(format('o.%I', c.column_name), ', '), string_agg(format('n.%I', c.column_name), ', ')
  into strict v_old, v_new
  from memory.changing_columns(memory_type) as c;

  execute format(
    $function$
      create or replace function memory.%I()
        returns trigger
        language plpgsql
        set search_path = pg_catalog, memory, public, pg_temp
        set timezone = 'UTC' -- so a state has the same image in every session
        set extra_float_digits = 1
      as $body$
      begin
        if not exists (
          select
          from old_rows as o
          join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
          where n.updated_at <> o.updated_at
        ) then
          return null;
        end if;
        %s
        insert into memory.memory_history
          (tenant_id, memory_type, memory_id, known_from, known_to, image, successor_digest)
        select
          o.tenant_id, %L, o.id, o.updated_at, n.updated_at, b.image, memory.image_digest(a.image)
        from old_rows as o
        join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
        cross join lateral (select to_jsonb(s) as image from (select %s) as s) as b
        cross join lateral (select to_jsonb(s) as image from (select %s) as s) as a
        where n.updated_at <> o.updated_at
        order by o.id, o.tenant_id;
        return null;
      end;
      $body$
    $function$,
    format('record_%s_changes', memory_type),
    -- Entities, which are not searched, have their own trigger for transitions.
    case when memory_type = any (memory.memory_type_names()) then format(
      $body$
        insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
        select
          n.tenant_id,
          coalesce(
            (
              select t.event_type
              from memory.transitions as t
              where t.memory_type = %1$L and t.aspect = 'lifecycle_state'
                and t.from_state = o.lifecycle_state and t.to_state = n.lifecycle_state
            ),
            memory.refuse_transition(
              %1$L, n.id, 'lifecycle_state', o.lifecycle_state, n.lifecycle_state
            )
          ),
          %1$L,
          n.id,
          jsonb_build_object('from', o.lifecycle_state, 'to', n.lifecycle_state)%2$s
        from old_rows as o
        join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
        where n.lifecycle_state <> o.lifecycle_state
        order by n.id, n.tenant_id;
      $body$,
      memory_type, v_details
    ) end,
    memory_type, v_old, v_new
  );
  execute format(
    'comment on function memory.%I() is %L',
    format('record_%s_changes', memory_type),
    'Statement trigger: rejects changes of lifecycle_state that memory.transitions does not '
    'declare, writes the events of those that it does, and stores the previous state of each '
    'changed row. Generated by memory.define_recorder. Errors: PM003.'
  );
end;
$$;

comment on function memory.define_recorder(text) is
'Generates the trigger function record_<type>_changes from the columns of the type. A change that '
'adds a column to its table must call memory.attach_triggers, which calls this.';

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
'Trigger: deletes the history of deleted memories. Argument: the memory type.';

commit;
