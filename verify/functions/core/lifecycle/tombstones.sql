-- Verify pymem:functions/core/lifecycle/tombstones on pg

begin;
select
  'memory.bury_memories()'::regprocedure;
rollback;
