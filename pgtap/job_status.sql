begin;
\ir fixtures.sql
select plan(9);

select memory_test.as_tenant('a') \g /dev/null
select memory.configure('{"decay_sweep_schedule": "0 3 * * *", "event_seal_schedule": "40 * * * *", "corpus_statistics_schedule": "off"}') \g /dev/null

create view memory_test.status as
select s.* from memory.job_status('2026-03-02 05:00Z') as s
where s.job in ('run_decay_sweep', 'seal_events', 'fold_corpus_statistics', 'rebuild_vector_indexes');
select results_eq(
  $$ select s.job, s.schedule, s.role, s.last_ran_at, s.due_at, s.is_off, s.is_due, s.is_overdue, s.runner_seen_at from memory_test.status as s $$,
  $$ values
     ('fold_corpus_statistics', 'off', 'memory_worker', null::timestamptz, null::timestamptz, true, false, false, null::timestamptz),
     ('rebuild_vector_indexes', 'off', 'memory_admin', null, null, true, false, false, null),
     ('run_decay_sweep', '0 3 * * *', 'memory_worker', null, '2026-03-03 03:00Z', false, false, false, null),
     ('seal_events', '40 * * * *', 'memory_worker', null, '2026-03-02 05:40Z', false, false, false, null) $$,
  'jobs that nobody has looked for are due at their next time'
);
select is(
  (select array_agg(s.job) from memory.job_status() as s),
  (select array_agg(j.job order by j.job) from memory.all_jobs(memory.current_settings()) as j), 'all jobs are listed, by name'
);
select memory.find_due_jobs('2026-03-01 12:00Z') \g /dev/null
select memory.run_job('seal_events', '2026-03-02 04:45Z') \g /dev/null
select results_eq(
  $$ select s.job, s.last_ran_at, s.due_at, s.is_due, s.is_overdue, s.runner_seen_at from memory_test.status as s where not s.is_off $$,
  $$ values
     ('run_decay_sweep', null::timestamptz, '2026-03-02 03:00Z'::timestamptz, true, false, '2026-03-01 12:00Z'::timestamptz),
     ('seal_events', '2026-03-02 04:45Z', '2026-03-02 05:40Z', false, false, '2026-03-01 12:00Z') $$,
  'a job that was not run in time is due; one that ran says when'
);
select results_eq(
  $$ select s.job, s.is_due, s.is_overdue from memory.job_status('2026-03-02 07:00Z') as s where s.job in ('run_decay_sweep', 'seal_events') $$,
  $$ values ('run_decay_sweep', true, false), ('seal_events', true, true) $$,
  'a job is overdue once the next time has come as well'
);
select is(
  (select array_agg(s.job) from memory.job_status('2026-03-02 07:00Z') as s where s.is_due and s.last_ran_at is not null),
  (select array_agg(d.job) from memory.find_due_jobs('2026-03-02 07:00Z') as d join memory.job_runs as r on r.job = d.job and r.ran_at is not null),
  'what is due is what a scheduler would run'
);
select throws_ok($$ select memory.job_status('infinity') $$, 'PM002', null, 'an infinite time is refused');
select memory_test.as_tenant('b') \g /dev/null
select is(
  (select count(*) from memory.job_status() as s where s.last_ran_at is not null or s.runner_seen_at is not null), 0::bigint,
  'another tenant has its own jobs'
);

-- The backlog of embeddings, for dashboards

select memory_test.a_login('status_reader', 'b', 'memory_reader');
select memory_test.share_results();
select memory.store_rule('Offer tea') \g /dev/null
set local session authorization status_reader;
select results_eq(
  $$ select b.status, b.pending from memory.embedding_backlog() as b $$, $$ values ('active', 1::bigint) $$,
  'a reader sees how many memories wait for a vector'
);
select isnt_empty($$ select from memory.job_status() $$, 'and the jobs');
reset session authorization;

select * from finish();
rollback;
