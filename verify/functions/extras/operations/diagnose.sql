-- Verify pymem:functions/extras/operations/diagnose on pg

begin;
select
  'memory.all_checks(text,timestamp with time zone)'::regprocedure,
  'memory.diagnose(boolean,timestamp with time zone)'::regprocedure;
rollback;
