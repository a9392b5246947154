-- Verify pymem:functions/extras/operations/jobs on pg

begin;
select
  'memory.all_jobs(memory.settings)'::regprocedure,
  'memory.list_jobs(name)'::regprocedure,
  'memory.is_job_due(text,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.job_status(timestamp with time zone)'::regprocedure,
  'memory.find_due_jobs(timestamp with time zone)'::regprocedure,
  'memory.sign_off_runner()'::regprocedure,
  'memory.claim_job(text,timestamp with time zone)'::regprocedure,
  'memory.run_job(text,timestamp with time zone)'::regprocedure;
rollback;
