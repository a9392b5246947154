-- Verify pymem:functions/extras/operations/doctor on pg

begin;
select
  'memory.all_checks(text)'::regprocedure,
  'memory.doctor(boolean,timestamp with time zone)'::regprocedure;
rollback;
