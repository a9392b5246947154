-- Revert pymem:functions/extras/operations/stats from pg

begin;

drop function memory.memory_timeseries(text,timestamp with time zone,timestamp with time zone,text[],timestamp with time zone);
drop function memory.memory_stats(text,timestamp with time zone);

commit;
