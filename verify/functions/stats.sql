-- Verify pymem:functions/stats on pg

begin;
select
  'memory.memory_stats(text, timestamptz)'::regprocedure;
rollback;
