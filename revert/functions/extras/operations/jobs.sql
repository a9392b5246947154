-- Revert pymem:functions/extras/operations/jobs from pg

begin;

drop function memory.run_job(text,timestamp with time zone);
drop function memory.claim_job(text,timestamp with time zone);
drop function memory.sign_off_runner_all_tenants();
drop function memory.sign_off_runner();
drop function memory.find_due_jobs_all_tenants(timestamp with time zone);
drop function memory.tenants_without_due_times(boolean);
drop function memory.due_jobs(timestamp with time zone);
drop function memory.find_due_jobs(timestamp with time zone);
drop function memory.forget_due_times();
drop function memory.note_jobs(memory.settings,timestamp with time zone);
drop function memory.job_status(timestamp with time zone);
drop function memory.runner_seen_at(text);
drop function memory.is_job_due(text,timestamp with time zone,timestamp with time zone);
drop function memory.due_from(text,timestamp with time zone);
drop function memory.list_jobs(name);
drop function memory.all_jobs(memory.settings);

commit;
