-- Revert pymem:triggers/entries from pg

begin;

drop trigger refuse_truncate on memory.entry_consolidations;
drop trigger refuse_truncate on memory.entry_policies;
drop trigger audit on memory.entry_policies;
drop trigger requeue_embedding on memory.entries;
drop trigger audit_updated on memory.entries;
drop trigger audit_confirmed on memory.entries;
drop trigger prepare on memory.entries;
drop trigger keep_counters on memory.entries;
drop trigger guard on memory.entries;
drop trigger start_state on memory.entries;
drop trigger refuse_truncate on memory.entries;
drop trigger record_changes on memory.entries;
drop trigger forget_embedding on memory.entries;
drop trigger enqueue_embedding on memory.entries;
drop trigger delete_history on memory.entries;
drop trigger create_tombstones on memory.entries;
drop trigger count_stored_texts on memory.entries;
drop trigger count_deleted_texts on memory.entries;
drop trigger count_changed_text on memory.entries;
drop trigger check_vector on memory.entries;
drop trigger audit_deleted on memory.entries;
drop trigger audit_created on memory.entries;
drop function memory.record_entry_changes();

commit;
