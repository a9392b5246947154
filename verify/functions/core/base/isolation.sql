-- Verify pymem:functions/core/base/isolation on pg

begin;
select
  'memory.isolate_table(name)'::regprocedure;
rollback;
