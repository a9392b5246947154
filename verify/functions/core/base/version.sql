-- Verify pymem:functions/core/base/version on pg

begin;
select
  'memory.version()'::regprocedure;
rollback;
