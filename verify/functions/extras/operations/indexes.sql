-- Verify pymem:functions/extras/operations/indexes on pg

begin;
select
  'memory.refresh_expected_indexes()'::regprocedure,
  'memory.expected_indexes()'::regprocedure,
  'memory.check_indexes()'::regprocedure;
rollback;
