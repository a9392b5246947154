-- Revert pymem:types/query from pg

begin;

drop type memory.queried_memory;
drop type memory.linked_entry;

commit;
