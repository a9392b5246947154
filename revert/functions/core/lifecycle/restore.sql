-- Revert pymem:functions/core/lifecycle/restore from pg

begin;

drop function memory.restore_fact(text,uuid,timestamp with time zone);
drop function memory.restore_memory(text,uuid,timestamp with time zone);

commit;
