-- Deploy pymem:functions/core/audit/attach_triggers to pg

begin;

set local role memory_owner;

-- Triggers of the same kind fire in the order of their names: "prepare" runs before "start_state",
-- which sees its changes.
create or replace function memory.attach_triggers(memory_type text)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_type memory.memory_types;
  v_columns text[];
  v_trigger text;
begin
  select t.* into strict v_type
  from memory.memory_types as t
  where t.memory_type = attach_triggers.memory_type;
  perform memory.define_recorder(memory_type);

  -- A change of these columns begins a new state of the row.
  v_columns := array(
    select c.column_name::text
    from memory.changing_columns(memory_type) as c
    where not c.is_generated
  ) || 'updated_at'::text;

  for v_trigger in
    select d.trigger
    from (values
      (true, 'audit_created after insert on %1$s referencing new table as new_rows
        for each statement execute function memory.audit_created(%2$L)'),
      (true, 'audit_deleted after delete on %1$s
        for each row execute function memory.audit_transition(%2$L)'),
      (true, 'refuse_truncate before truncate on %1$s
        for each statement execute function memory.refuse_truncate()'),
      (true, 'start_state before update of %3$s on %1$s
        for each row when ((%4$s) is distinct from (%5$s))
        execute function memory.start_state()'),
      (true, 'record_changes after update on %1$s
        referencing old table as old_rows new table as new_rows
        for each statement execute function memory.%6$I()'),
      (true, 'delete_history after delete on %1$s referencing old table as old_rows
        for each statement execute function memory.delete_history(%2$L)'),
      (v_type.is_searched, 'check_vector before insert or update of embedding on %1$s
        for each row when (new.embedding is not null) execute function memory.check_vector()'),
      (v_type.is_searched, 'enqueue_embedding after insert on %1$s
        referencing new table as new_rows
        for each statement execute function memory.enqueue_embedding(%2$L)'),
      (v_type.is_searched, 'forget_embedding after delete on %1$s
        for each row execute function memory.forget_embedding(%2$L)'),
      (v_type.is_searched, 'count_stored_texts after insert on %1$s
        referencing new table as texts
        for each statement execute function memory.count_texts(%2$L)'),
      (v_type.is_searched, 'count_deleted_texts after delete on %1$s
        referencing old table as texts
        for each statement execute function memory.count_texts(%2$L)'),
      (v_type.is_searched, 'count_changed_text after update of %7$s on %1$s
        for each row execute function memory.count_changed_text(%2$L)'),
      (v_type.is_searched, 'create_tombstones after delete on %1$s referencing old table as old_rows
        for each statement execute function memory.create_tombstones(%2$L)')
    ) as d (is_wanted, trigger)
    where d.is_wanted
    order by d.trigger
  loop
    execute 'create or replace trigger ' || format(
      v_trigger,
      'memory.' || quote_ident(v_type.table_name),
      memory_type,
      array_to_string(v_columns, ', '),
      (select string_agg('new.' || c.name, ', ') from unnest(v_columns) as c (name)),
      (select string_agg('old.' || c.name, ', ') from unnest(v_columns) as c (name)),
      format('record_%s_changes', memory_type),
      array_to_string(v_type.counted_columns, ', ')
    );
  end loop;
end;
$$;

comment on function memory.attach_triggers(text) is
'Attaches the triggers that all types share to the table of a type: audit, history, embedding '
'queue and corpus statistics. A change that adds a type or a column must call it. Triggers of a '
'single type are in triggers/.';

commit;
