-- Verify pymem:functions/extras/operations/jobs on pg

begin;
select
  'memory.all_jobs(memory.settings)'::regprocedure,
  'memory.list_jobs(name)'::regprocedure;
rollback;
