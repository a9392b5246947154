-- Revert pymem:triggers/entities from pg

begin;

drop trigger refuse_delete on memory.entities;
drop trigger audit_updated on memory.entities;
drop trigger audit_transition on memory.entities;
drop trigger write_changed_names on memory.entities;
drop trigger write_names on memory.entities;
drop trigger prepare on memory.entities;
drop trigger start_state on memory.entities;
drop trigger refuse_truncate on memory.entities;
drop trigger record_changes on memory.entities;
drop trigger delete_history on memory.entities;
drop trigger audit_deleted on memory.entities;
drop trigger audit_created on memory.entities;
drop function memory.record_entity_changes();

commit;
