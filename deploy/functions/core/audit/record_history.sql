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

-- The recorder of a type works a statement at a time, and does nothing if the statement only
-- counted references: then no state has begun. Each type has a recorder of its own, made here: only
-- a trigger function itself sees the rows, and the images must name their columns, because whole
-- rows would have their vectors read from where they are stored.
create or replace function memory.define_recorder(memory_type text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_old text;
  v_new text;
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
        set timezone = 'UTC' -- so that the same state has the same image in every session
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
    -- What is not searched, an entity, has a trigger of its own for its transitions.
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
          jsonb_build_object('from', o.lifecycle_state, 'to', n.lifecycle_state)
        from old_rows as o
        join new_rows as n on n.tenant_id = o.tenant_id and n.id = o.id
        where n.lifecycle_state <> o.lifecycle_state
        order by n.id, n.tenant_id;
      $body$,
      memory_type
    ) end,
    memory_type, v_old, v_new
  );
  execute format(
    'comment on function memory.%I() is %L',
    format('record_%s_changes', memory_type),
    'Trigger of a statement: refuses a change of lifecycle_state that memory.transitions does not '
    'declare, writes the event of one that it does, and keeps what each changed row said until '
    'then. Made by memory.define_recorder. Errors: PM003.'
  );
end;
$$;

comment on function memory.define_recorder(text) is
'Makes the trigger function record_<type>_changes from the columns of the type. A change that adds '
'a column to its table calls memory.attach_triggers, which calls this.';

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
