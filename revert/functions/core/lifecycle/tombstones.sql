-- Revert pymem:functions/core/lifecycle/tombstones from pg

begin;

drop function memory.bury_memories();

commit;
