-- Revert pymem:functions/extras/entries/expire_memory from pg

begin;

drop function memory.expire_memory(timestamp with time zone);

commit;
