-- Verify pymem:functions/core/base/schedule on pg

begin;
select
  'memory.is_schedule(text)'::regprocedure;
rollback;
