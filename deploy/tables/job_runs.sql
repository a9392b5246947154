-- Deploy pymem:tables/job_runs to pg

begin;

set local role memory_owner;

create table memory.job_runs (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  job text not null check (job ~ '^[a-z_]{1,40}$'),
  known_since timestamptz not null check (isfinite(known_since)),
  ran_at timestamptz check (isfinite(ran_at)),
  due_at timestamptz check (due_at > '-infinity'),
  primary key (tenant_id, job)
);

-- Who runs the jobs of all tenants reads what is due, not every job of every tenant.
create index job_runs_due_idx on memory.job_runs (due_at, tenant_id, job);

comment on table memory.job_runs is
'When each periodic job has run last, so that of several schedulers only the first one runs it. '
'The row is locked while the job runs.';
comment on column memory.job_runs.job is 'Name of the job in memory.all_jobs.';
comment on column memory.job_runs.known_since is
'When a scheduler first looked for the job: one that has never run is due at the next time after.';
comment on column memory.job_runs.ran_at is
'When the run began that was the last to succeed; NULL: none has.';
comment on column memory.job_runs.due_at is
'From when on the job is due by its schedule (memory.due_from), infinity if it is off; NULL: the '
'settings have changed since somebody last looked.';

create table memory.job_runners (
  tenant_id text not null primary key check (octet_length(tenant_id) <@ int4range '[1,128]'),
  seen_at timestamptz not null check (isfinite(seen_at))
);

comment on table memory.job_runners is
'The tenants whose jobs a process of `pymem run` runs. A process that ends takes its row along, '
'which another one writes again: a row that gets old belonged to a process that died.';
comment on column memory.job_runners.seen_at is
'When a process has last looked for jobs that are due.';

create table memory.common_runner (
  is_common boolean not null primary key default true check (is_common),
  seen_at timestamptz not null check (isfinite(seen_at)),
  searched_at timestamptz check (isfinite(searched_at))
);

comment on table memory.common_runner is
'At most one row: when a process of `pymem run --all-tenants`, which runs the jobs of every '
'tenant, has last looked for those that are due. A process that ends deletes it, and another one '
'writes it again.';
comment on column memory.common_runner.is_common is 'True.';
comment on column memory.common_runner.seen_at is 'As in memory.job_runners.';
comment on column memory.common_runner.searched_at is
'When it has last looked for tenants that are new, which it does once a minute.';

commit;
