-- Deploy pymem:functions/core/store/memories to pg

begin;

set local role memory_owner;

-- What is asked of a memory of any type. These functions name the table of each type, so that their
-- plans are kept; they are made from memory.memory_types.
create or replace function memory.refresh_memory_functions()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_created text;
  v_locked text;
  v_state text;
  v_counted text;
begin
  select
    string_agg(
      format(
        'when %L then (
           select m.created_at from memory.%I as m
           where m.tenant_id = created_at_of.tenant_id and m.id = memory_id
         )',
        t.memory_type, t.table_name
      ),
      ' ' order by t.position
    ),
    string_agg(
      format(
        'when %L then
           perform from memory.%I as m
           where m.tenant_id = memory_exists.tenant_id and m.id = memory_id for key share;',
        t.memory_type, t.table_name
      ),
      ' ' order by t.position
    ) filter (where t.is_searched),
    string_agg(
      format(
        'when %L then (
           select %s from memory.%I as m
           where m.tenant_id = resolved_state.tenant_id and m.id = memory_id
         )',
        t.memory_type,
        case
          when exists (
            select from pg_attribute as a
            where a.attrelid = format('memory.%I', t.table_name)::regclass
              and a.attname = 'expires_at'
          )
          then 'case when m.expires_at <= as_of then ''expired'' else m.lifecycle_state end'
          else 'm.lifecycle_state'
        end,
        t.table_name
      ),
      ' ' order by t.position
    ) filter (where t.is_searched),
    string_agg(
      format(
        'if %1$L = any (memory_types) then
           with locked as (
             select m.id
             from memory.%2$I as m
             where m.tenant_id = v_tenant_id
               and m.id = any (array(
                 select r.id
                 from unnest(memory_types, memory_ids) as r (memory_type, id)
                 where r.memory_type = %1$L
               ))
             order by m.id
             for no key update
           )
           update memory.%2$I as m
           set
             reference_count = m.reference_count + 1,
             last_referenced_at = greatest(m.last_referenced_at, as_of)
           from locked as l
           where m.tenant_id = v_tenant_id and m.id = l.id;
         end if;',
        t.memory_type, t.table_name
      ),
      ' ' order by t.position
    ) filter (where t.is_searched)
  into v_created, v_locked, v_state, v_counted
  from memory.memory_types as t;

  execute format(
    'create or replace function memory.created_at_of(
       tenant_id text, memory_type text, memory_id uuid
     )
       returns timestamptz
       language plpgsql
       stable
       set search_path = pg_catalog, memory, public, pg_temp
     as $body$
     begin
       return case memory_type %s end;
     end;
     $body$',
    v_created
  );

  execute format(
    'create or replace function memory.memory_exists(
       tenant_id text, memory_type text, memory_id uuid
     )
       returns boolean
       language plpgsql
       volatile
       set search_path = pg_catalog, memory, public, pg_temp
     as $body$
     begin
       case memory_type %s else return false; end case;
       return found;
     end;
     $body$',
    v_locked
  );

  -- A set of one row: its body becomes part of the query that asks for it. A function that returns
  -- a value, or pins its search_path, is called for each row.
  execute format(
    'create or replace function memory.resolved_state(
       tenant_id text, memory_type text, memory_id uuid, as_of timestamptz
     )
       returns table (state text)
       language sql
       stable
       rows 1
     begin atomic
       select coalesce(
         case memory_type %s end,
         (
           select ''expired'' from memory.tombstones as t
           where t.tenant_id = resolved_state.tenant_id
             and t.memory_type = resolved_state.memory_type
             and t.memory_id = resolved_state.memory_id
         )
       );
     end',
    v_state
  );

  -- Locked in the order of the ids, so that two readers of the same memories cannot deadlock.
  execute format(
    'create or replace function memory.count_references(
       memory_types text[], memory_ids uuid[], as_of timestamptz
     )
       returns void
       language plpgsql
       volatile
       security definer
       set search_path = pg_catalog, memory, public, pg_temp
     as $body$
     declare
       v_tenant_id text := memory.current_tenant();
     begin
       %s
     end;
     $body$',
    v_counted
  );
end;
$$;

comment on function memory.refresh_memory_functions() is
'Makes memory.created_at_of, memory.memory_exists, memory.resolved_state and '
'memory.count_references look into the table of each type in memory.memory_types.';

do $$
begin
  perform memory.refresh_memory_functions();
end;
$$;

comment on function memory.created_at_of(text, text, uuid) is
'When a memory or an entity was created; NULL for an unknown one.';
comment on function memory.memory_exists(text, text, uuid) is
'Whether a memory exists, locked against deletion until the end of the transaction.';
comment on function memory.resolved_state(text, text, uuid, timestamptz) is
'State of the memory at an end of a link: its lifecycle_state, and expired for one that has '
'expired or that left a tombstone.';
comment on function memory.count_references(text[], uuid[], timestamptz) is
'Counts one reference, at as_of, to each of some memories, named by type and id at the same '
'places. Bookkeeping: no event.';

create or replace function memory.check_after_creation(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_created_at timestamptz := memory.created_at_of(tenant_id, memory_type, memory_id);
begin
  if as_of < v_created_at then
    raise exception 'as_of lies before % % was created: %', memory_type, memory_id, as_of
      using errcode = 'PM002', hint = format('Pass a time from %s on.', v_created_at);
  end if;
end;
$$;

comment on function memory.check_after_creation(text, text, uuid, timestamptz) is
'Refuses a time before a memory or an entity was created; an unknown one has none. Errors: PM002.';

create or replace function memory.refresh_memory_types()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.refresh_type_names();
  perform memory.refresh_memory_functions();
  perform memory.refresh_searchable_memories();
  perform memory.refresh_memory_overview();
end;
$$;

comment on function memory.refresh_memory_types() is
'Makes all that is made from memory.memory_types follow its rows, except triggers. A change that '
'adds a type calls it, then memory.isolate_table and memory.attach_triggers for its table.';

commit;
