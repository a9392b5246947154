-- Revert pymem:views/searchable_memories from pg

begin;

drop view memory.searchable_memories;

commit;
