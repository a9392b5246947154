-- Deploy pymem:tables/job_runs to pg

begin;

set local role memory_owner;

create table memory.job_runs (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  job text not null check (job ~ '^[a-z_]{1,40}$'),
  known_since timestamptz not null check (isfinite(known_since)),
  ran_at timestamptz check (isfinite(ran_at)),
  primary key (tenant_id, job)
);

comment on table memory.job_runs is
'When each periodic job has run last, so that of several schedulers only the first one runs it. '
'The row is locked while the job runs.';
comment on column memory.job_runs.job is 'Name of the job in memory.all_jobs.';
comment on column memory.job_runs.known_since is
'When a scheduler first looked for the job: one that has never run is due at the next time after.';
comment on column memory.job_runs.ran_at is
'When the run began that was the last to succeed; NULL: none has.';

create table memory.job_runners (
  tenant_id text not null primary key check (octet_length(tenant_id) <@ int4range '[1,128]'),
  seen_at timestamptz not null check (isfinite(seen_at))
);

comment on table memory.job_runners is
'The tenants whose jobs a process of `pymem run` runs. A process that ends takes its row along, '
'which another one writes again: a row that gets old belonged to a process that died.';
comment on column memory.job_runners.seen_at is
'When a process has last looked for jobs that are due.';

commit;
