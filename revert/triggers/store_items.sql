-- Revert pymem:triggers/store_items from pg

begin;

drop trigger check_vector on memory.store_vectors;
drop trigger audit_updated on memory.store_items;
drop trigger start_state on memory.store_items;
drop trigger refuse_truncate on memory.store_items;
drop trigger record_changes on memory.store_items;
drop trigger delete_history on memory.store_items;
drop trigger audit_deleted on memory.store_items;
drop trigger audit_created on memory.store_items;
drop function memory.record_item_changes();

commit;
