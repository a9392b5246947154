-- Revert pymem:tables/imports from pg

begin;

set local role memory_owner;

drop table memory.restored_events;
drop table memory.imported_memories;
drop table memory.import_batches;

commit;
