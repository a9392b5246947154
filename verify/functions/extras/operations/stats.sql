-- Verify pymem:functions/extras/operations/stats on pg

begin;
select
  'memory.memory_stats(text,timestamp with time zone)'::regprocedure;
rollback;
