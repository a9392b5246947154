-- Verify pymem:functions/indexes on pg

begin;
select
  'memory.expected_indexes()'::regprocedure,
  'memory.check_indexes()'::regprocedure;
rollback;
