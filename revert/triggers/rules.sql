-- Revert pymem:triggers/rules from pg

begin;

drop trigger count_application on memory.rule_applications;
drop trigger check_application on memory.rule_applications;
drop trigger requeue_embedding on memory.rules;
drop trigger refuse_truncate on memory.rule_applications;
drop trigger refuse_loss on memory.rule_applications;
drop trigger refuse_change on memory.rule_applications;
drop trigger audit_created on memory.rule_applications;
drop trigger refuse_delete on memory.rules;
drop trigger audit_counted on memory.rules;
drop trigger audit_updated on memory.rules;
drop trigger audit_confirmed on memory.rules;
drop trigger audit_maturity on memory.rules;
drop trigger prepare on memory.rules;
drop trigger start_state on memory.rules;
drop trigger refuse_truncate on memory.rules;
drop trigger record_changes on memory.rules;
drop trigger forget_embedding on memory.rules;
drop trigger enqueue_embedding on memory.rules;
drop trigger delete_history on memory.rules;
drop trigger create_tombstones on memory.rules;
drop trigger count_stored_texts on memory.rules;
drop trigger count_deleted_texts on memory.rules;
drop trigger count_changed_text on memory.rules;
drop trigger check_vector on memory.rules;
drop trigger audit_deleted on memory.rules;
drop trigger audit_created on memory.rules;
drop function memory.record_rule_changes();

commit;
