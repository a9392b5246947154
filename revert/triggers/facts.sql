-- Revert pymem:triggers/facts from pg

begin;

drop trigger refuse_delete on memory.facts;
drop trigger refuse_cycle on memory.facts;
drop trigger audit_updated on memory.facts;
drop trigger audit_confirmed on memory.facts;
drop trigger prepare on memory.facts;
drop trigger start_state on memory.facts;
drop trigger refuse_truncate on memory.facts;
drop trigger record_changes on memory.facts;
drop trigger forget_embedding on memory.facts;
drop trigger enqueue_embedding on memory.facts;
drop trigger delete_history on memory.facts;
drop trigger create_tombstones on memory.facts;
drop trigger count_stored_texts on memory.facts;
drop trigger count_deleted_texts on memory.facts;
drop trigger count_changed_text on memory.facts;
drop trigger check_vector on memory.facts;
drop trigger audit_deleted on memory.facts;
drop trigger audit_created on memory.facts;
drop function memory.record_fact_changes();

commit;
