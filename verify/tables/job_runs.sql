-- Verify pymem:tables/job_runs on pg

begin;
select
  r.tenant_id, r.job, r.known_since, r.ran_at
from memory.job_runs as r
where false;
select
  r.tenant_id, r.seen_at
from memory.job_runners as r
where false;
rollback;
