-- Revert pymem:functions/stats from pg

begin;

drop function memory.memory_stats(text, timestamptz);

commit;
