-- Deploy pymem:triggers/entities to pg

begin;

set local role memory_owner;

do $$
begin
  perform memory.attach_triggers('entity');
end;
$$;

create or replace trigger prepare
before update of tenant_id, id, created_at on memory.entities
for each row execute function memory.prepare_entity();

create or replace trigger write_names
after insert on memory.entities referencing new table as new_rows
for each statement execute function memory.write_names();

create or replace trigger write_changed_names
after update on memory.entities referencing new table as new_rows
for each statement execute function memory.write_names();

create or replace trigger audit_transition
after update of metadata on memory.entities
for each row when (old.lifecycle_state is distinct from new.lifecycle_state)
execute function memory.audit_merge();

create or replace trigger audit_updated
after update on memory.entities
for each row when (
  (
    new.canonical_name, new.entity_type, new.aliases,
    case
      when new.lifecycle_state = old.lifecycle_state then new.metadata
      else new.metadata - 'merged_into'
    end
  ) is distinct from (
    old.canonical_name, old.entity_type, old.aliases,
    case
      when new.lifecycle_state = old.lifecycle_state then old.metadata
      else old.metadata - 'merged_into'
    end
  )
)
execute function memory.audit_update('entity');

create or replace trigger refuse_delete
before delete on memory.entities
for each row when (not memory.is_erasing(old.tenant_id))
execute function memory.refuse_delete();

commit;
