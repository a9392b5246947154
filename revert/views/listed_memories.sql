-- Revert pymem:views/listed_memories from pg

begin;

drop view memory.listed_memories;

commit;
