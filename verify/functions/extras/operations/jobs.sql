-- Verify pymem:functions/extras/operations/jobs on pg

begin;
select
  'memory.all_jobs(memory.settings)'::regprocedure,
  'memory.list_jobs(name)'::regprocedure,
  'memory.due_from(text,timestamp with time zone)'::regprocedure,
  'memory.is_job_due(text,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.runner_seen_at(text)'::regprocedure,
  'memory.job_status(timestamp with time zone)'::regprocedure,
  'memory.note_jobs(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.forget_due_times()'::regprocedure,
  'memory.find_due_jobs(timestamp with time zone)'::regprocedure,
  'memory.due_jobs(timestamp with time zone)'::regprocedure,
  'memory.tenants_without_due_times(boolean)'::regprocedure,
  'memory.find_due_jobs_all_tenants(timestamp with time zone)'::regprocedure,
  'memory.sign_off_runner()'::regprocedure,
  'memory.sign_off_runner_all_tenants()'::regprocedure,
  'memory.claim_job(text,timestamp with time zone)'::regprocedure,
  'memory.run_job(text,timestamp with time zone)'::regprocedure;
rollback;
