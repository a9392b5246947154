-- Verify pymem:functions/extras/entries/expire_memory on pg

begin;
select
  'memory.expire_memory(timestamp with time zone)'::regprocedure;
rollback;
