-- Revert pymem:functions/extras/operations/stats from pg

begin;

drop function memory.memory_stats(text,timestamp with time zone);

commit;
