-- Revert pymem:functions/restore from pg

begin;

drop function memory.restore_fact(text, uuid, timestamptz);
drop function memory.restore_memory(text, uuid, timestamptz);

commit;
