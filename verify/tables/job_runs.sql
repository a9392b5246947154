-- Verify pymem:tables/job_runs on pg

begin;
select
  r.tenant_id, r.job, r.known_since, r.ran_at, r.due_at
from memory.job_runs as r
where false;
select
  r.tenant_id, r.seen_at
from memory.job_runners as r
where false;
select
  c.is_common, c.seen_at, c.searched_at
from memory.common_runner as c
where false;
rollback;
