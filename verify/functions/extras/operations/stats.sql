-- Verify pymem:functions/extras/operations/stats on pg

begin;
select
  'memory.memory_stats(text,timestamp with time zone)'::regprocedure,
  'memory.memory_timeseries(text,timestamp with time zone,timestamp with time zone,text[],timestamp with time zone)'::regprocedure;
rollback;
