-- Verify pymem:functions/doctor on pg

begin;
select
  'memory.all_checks(text)'::regprocedure,
  'memory.doctor(boolean, timestamptz)'::regprocedure;
rollback;
