-- Verify pymem:functions/core/lifecycle/tombstones on pg

begin;
select
  'memory.create_tombstones()'::regprocedure;
rollback;
