-- Revert pymem:functions/schedule from pg

begin;

drop function memory.is_schedule(text);

commit;
