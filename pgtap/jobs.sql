begin;
\ir fixtures.sql
select plan(44);

select memory_test.a_login('jobs_a', 'a', 'memory_admin, memory_worker');
select memory_test.a_login('jobs_b', 'b', 'memory_admin, memory_worker');
select memory_test.a_login('jobs_gateway', null, 'memory_admin, memory_worker, memory_gateway');
select memory_test.a_login('jobs_unbound', null, 'memory_admin, memory_worker');
select memory_test.a_login('jobs_admin', 'a', 'memory_admin');
select memory_test.a_login('jobs_writer', 'a', 'memory_writer');
create role jobs_distant login noinherit in role memory_admin, memory_worker, memory_gateway;
create role jobs_group nologin in role memory_admin, memory_worker, memory_gateway;

create view memory_test.schedules as
select a.attname::text collate "default" as setting
from pg_attribute as a
where a.attrelid = 'memory.settings'::regclass and a.attname like '%\_schedule';

-- is_schedule

select is_empty(
  $$ select s.value from unnest(array[
       'off', '* * * * *', '0 3 * * *', '*/15 9-17 1,15 jan-mar Mon', '1 seconds', '59 seconds',
       '59 23 31 12 7', '0-30/5,45 0 1 1 0', '00 03 */2 DEC sun-fri'
     ]) as s (value)
     where not memory.is_schedule(s.value) $$,
  'a schedule has five fields as in crontab, or is 1 to 59 seconds, or is off'
);
select is_empty(
  $$ select s.value from unnest(array[
       '', ' ', 'on', 'OFF', '* * * *', '* * * * * *', ' * * * * *', '* * * * * ', E'* * * * *\n', '*  * * * *',
       E'*\t* * * *', '0 seconds', '60 seconds', '1 second', '30 minutes', '@daily', '1 day',
       '* * * * *; select 1', $a$' * * * *$a$,
       '99 99 * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * 32 * *', '* * * 13 *', '* * * 0 *',
       '* * * * 8', '*/0 * * * *', '5/2 * * * *', '* * * mon *', '* * * * jan', '1, * * * *', '-1 * * * *'
     ]) as s (value)
     where memory.is_schedule(s.value) $$,
  'anything else is not a schedule'
);
select throws_ok(
  $$ select memory.configure('{"vector_index_schedule": "whenever"}') $$, 'PM002', null,
  'configure refuses an invalid schedule'
);

-- next_run

select results_eq(
  $$ select memory.next_run(c.schedule, c.after) from (values
       (1, '0 3 * * *', timestamptz '2026-03-01 02:59:59Z'),
       (2, '0 3 * * *', '2026-03-01 03:00Z'),
       (3, '*/15 9-17 * * *', '2026-03-01 17:45Z'),
       (4, '10-30/10,45 * * * *', '2026-03-01 12:30:01Z'),
       (5, '5 0 * feb-mar,12 *', '2026-03-31 00:05Z'),
       (6, '0 0 29 2 *', '2096-02-29 00:00Z'),
       (7, '0 0 * * 7', '2026-03-01 00:00Z'),
       (8, '0 0 * * sun', '2026-03-01 00:00Z'),
       (9, '0 0 * * Fri-7', '2026-03-02 00:00Z'),
       (10, '30 seconds', '2026-03-01 12:00:07.5Z'),
       (11, '59 23 31 12 *', '2026-12-31 23:59Z'),
       (12, '0 0 1,15 jan-mar Mon', '2026-03-01 00:00Z'),
       (13, '0 0 */2 * mon', '2026-03-01 00:00Z'),
       (14, '0 0 29 2 */7', '2026-03-01 00:00Z'),
       (15, '0 0 20 * Fri', '2026-03-01 00:00Z'),
       (16, '0 0 * 6 Tue', '2026-03-01 00:00Z')
     ) as c (number, schedule, after) order by c.number $$,
  array[
    '2026-03-01 03:00Z', '2026-03-02 03:00Z', '2026-03-02 09:00Z', '2026-03-01 12:45Z',
    '2026-12-01 00:05Z', '2104-02-29 00:00Z', '2026-03-08 00:00Z', '2026-03-08 00:00Z',
    '2026-03-06 00:00Z', '2026-03-01 12:00:37.5Z', '2027-12-31 23:59Z', '2026-03-02 00:00Z',
    '2026-03-09 00:00Z', '2032-02-29 00:00Z', '2026-03-06 00:00Z', '2026-06-02 00:00Z'
  ]::timestamptz[],
  'the next time of a schedule is the first one after: days and weekdays add up unless one has a star'
);
select is_empty(
  $$ select memory.next_run(s.schedule, '2026-03-01Z')
     from unnest(array['off', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '50-40 * * * *']) as s (schedule)
     where memory.next_run(s.schedule, '2026-03-01Z') is not null $$,
  'what is off or never comes has no next time'
);
select throws_ok(
  $$ select memory.next_run('whenever', '2026-03-01Z') $$, 'PM002', null, 'there is no next time of anything else'
);
set local time zone 'Pacific/Auckland';
select is(
  memory.next_run('0 3 * * *', '2026-03-01 02:00Z'), '2026-03-01 03:00Z',
  'schedules are read in UTC, whatever the time zone of the session'
);
reset time zone;
select is_empty(
  $$ select j.job from memory.all_jobs(memory.default_settings('a')) as j
     where j.schedule <> 'off' and memory.next_run(j.schedule, now()) not between now() and now() + interval '31 days' $$,
  'every default is due within a month'
);

-- all_jobs

select is_empty(
  $$ select j.job from memory.all_jobs(memory.default_settings('a')) as j
     where j.job !~ '^[a-z_]{1,40}$' $$,
  'the name of a job and its prefix fit into a name of pg_cron'
);
select results_eq(
  $$ select j.schedule
     from memory.all_jobs(jsonb_populate_record(
       memory.default_settings('a'),
       (select jsonb_object_agg(s.setting, 'due by ' || s.setting) from memory_test.schedules as s)
     )) as j
     order by 1 $$,
  $$ select 'due by ' || s.setting from memory_test.schedules as s order by 1 $$,
  'every schedule in the settings belongs to one job, and every job has one of its own'
);
select is_empty(
  $$ select j.job from memory.all_jobs(memory.default_settings('a')) as j
     where not exists (
       select from pg_proc as p
       where p.pronamespace = 'memory'::regnamespace and starts_with(j.call, format('memory.%s(', p.proname))
         and has_function_privilege(j.role, p.oid, 'execute')
     ) $$,
  'the role of a job may call its function'
);

-- list_jobs

select memory.configure((select jsonb_object_agg(s.setting, 'off') from memory_test.schedules as s)) \g /dev/null
select is_empty($$ select * from memory.list_jobs('jobs_a') $$, 'a job that is off is not listed');
select lives_ok(
  $$ select memory.list_jobs('jobs_writer') $$, 'a job that is off requires no role'
);
select memory.configure(
  '{"corpus_statistics_schedule": "5 3 * * *", "vector_index_schedule": "0 3 * * 0"}'
) \g /dev/null
select results_eq(
  $$ select * from memory.list_jobs('jobs_a') $$,
  $$ values
    (
      'fold_corpus_statistics', '5 3 * * *',
      'select memory.set_request(tenant_id => ''a'', actor => ''schedule:fold_corpus_statistics''); '
      'select memory.run_job(''fold_corpus_statistics'');'
    ),
    (
      'rebuild_vector_indexes', '0 3 * * 0',
      'select memory.set_request(tenant_id => ''a'', actor => ''schedule:rebuild_vector_indexes''); '
      'select memory.run_job(''rebuild_vector_indexes'');'
    ) $$,
  'a job has the schedule of its setting, names tenant and actor, and is run if it is due'
);
select results_eq(
  $$ select * from memory.list_jobs('jobs_gateway') $$, $$ select * from memory.list_jobs('jobs_a') $$,
  'a gateway may run the same jobs as a login of the tenant'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_missing') $$, 'PM001', $$no login role is named 'jobs_missing'$$,
  'a login that does not exist is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_group') $$, 'PM001', $$no login role is named 'jobs_group'$$,
  'a role that cannot log in is refused'
);
select throws_ok(
  $$ select memory.list_jobs(null) $$, 'PM001', 'no login role is named NULL',
  'a NULL login is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_b') $$, 'PM005', $$login 'jobs_b' does not act for tenant 'a'$$,
  'the login of another tenant is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_unbound') $$, 'PM005', $$login 'jobs_unbound' does not act for tenant 'a'$$,
  'a login that is neither bound nor a gateway is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_writer') $$, 'PM002',
  $$login 'jobs_writer' lacks a role for its jobs: memory_admin, memory_worker$$,
  'a login without the roles of the jobs is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_admin') $$, 'PM002',
  $$login 'jobs_admin' lacks a role for its jobs: memory_worker$$,
  'a login that lacks one role of the jobs is refused'
);
select throws_ok(
  $$ select memory.list_jobs('jobs_distant') $$, 'PM002',
  $$login 'jobs_distant' lacks a role for its jobs: memory_admin, memory_worker$$,
  'a login that does not inherit the roles of the jobs is refused'
);
select memory_test.as_tenant('b') \g /dev/null
select results_eq(
  $$ select j.job, j.schedule from memory.list_jobs('jobs_b') as j $$,
  $$ values
    ('delete_expired_items', '50 * * * *'), ('delete_expired_sessions', '55 * * * *'), ('expire_memory', '45 3 * * *'), ('fold_corpus_statistics', '30 3 * * *'), ('maybe_consolidate_entries', '5 * * * *'),
    ('run_daily_entry_upkeep', '50 3 * * *'), ('run_decay_sweep', '0 3 * * *'),
    ('run_episode_cleanup', '10 3 * * *'), ('run_monthly_entry_upkeep', '10 4 1 * *'),
    ('run_rule_hygiene', '20 3 * * *'), ('run_weekly_entry_upkeep', '0 4 * * 0'),
    ('seal_events', '40 * * * *') $$,
  'another tenant has the jobs of its own settings'
);
select memory_test.as_tenant('') \g /dev/null
select throws_ok(
  $$ select memory.list_jobs('jobs_a') $$, '28000', null, 'listing jobs without a tenant is refused'
);

-- As the scheduler runs them

select memory_test.as_tenant($$it's \ "x"$$) \g /dev/null
select memory.store_episode('Tea was drunk', 'home') \g /dev/null
select j.command
from memory.list_jobs('jobs_gateway') as j where j.job = 'fold_corpus_statistics' \gset
select memory_test.as_tenant('') \g /dev/null
select memory_test.share_results();
set session authorization jobs_gateway;
select lives_ok(:'command', 'the command of a job runs as its login');
select is(memory.current_tenant(), $$it's \ "x"$$, 'a job runs for its tenant, whatever its name');
select is(
  memory.current_actor(), 'schedule:fold_corpus_statistics', 'a job runs with its name as the actor'
);
reset session authorization;
select results_eq(
  $$ select s.memory_type, s.documents
     from memory.corpus_statistics as s where s.tenant_id = $a$it's \ "x"$a$ order by 1 $$,
  $$ values ('entry', 0::bigint), ('episode', 1), ('fact', 0), ('rule', 0) $$,
  'the command of a job does its work'
);

-- find_due_jobs, claim_job, run_job

select memory_test.as_tenant('c') \g /dev/null
select memory.configure((select jsonb_object_agg(s.setting, 'off') from memory_test.schedules as s)) \g /dev/null
select memory.configure(
  '{"corpus_statistics_schedule": "0 3 * * *", "event_seal_schedule": "40 * * * *"}'
) \g /dev/null
select is_empty(
  $$ select * from memory.find_due_jobs('2026-03-01 12:00Z') $$, 'a job that nobody has looked for is not due yet'
);
select is_empty(
  $$ select * from memory.find_due_jobs('2026-03-01 12:39:59Z') $$, 'nor is it before its next time'
);
select results_eq(
  $$ select * from memory.find_due_jobs('2026-03-02 04:00Z') $$,
  $$ values
    ('seal_events', timestamptz '2026-03-01 12:40Z'),
    ('fold_corpus_statistics', timestamptz '2026-03-02 03:00Z') $$,
  'what was missed is due once, the oldest first'
);
select is(memory.run_job('seal_events', '2026-03-01 12:39Z'), null, 'what is not due is not run');
select is(
  jsonb_array_length(memory.run_job('seal_events', '2026-03-02 04:00Z')), 1, 'what is due runs and returns its rows'
);
select is(
  jsonb_typeof(memory.run_job('fold_corpus_statistics', '2026-03-02 04:00Z') -> 0), 'number',
  'or its value'
);
select is(memory.run_job('seal_events', '2026-03-02 04:00:30Z'), null, 'whoever comes second runs nothing');
select is_empty($$ select * from memory.find_due_jobs('2026-03-02 04:39Z') $$, 'and finds nothing');
select isnt(memory.run_job('seal_events', '2026-03-02 04:40Z'), null, 'it is due again at its next time');
select memory.configure('{"event_seal_schedule": "10 seconds"}') \g /dev/null
select isnt(
  memory.run_job('seal_events', '2026-03-02 04:40:09.8Z'), null, 'a scheduler that counts seconds may be a little early'
);
select memory.configure('{"event_seal_schedule": "off"}') \g /dev/null
select is(memory.run_job('seal_events', '2027-01-01Z'), null, 'a job that is off does not run');
select isnt(
  memory.run_job(j.job, '2026-03-01 12:00Z'), null, 'a job that nobody has looked for runs where a scheduler calls it'
)
from memory.all_jobs(memory.configure('{"decay_sweep_schedule": "0 4 * * *"}')) as j where j.job = 'run_decay_sweep';
select throws_ok(
  $$ select memory.run_job('no_such_job') $$, 'PM001', 'no job is named ''no_such_job''', 'an unknown job is refused'
);
select throws_ok(
  $$ select memory.run_job('seal_events', 'infinity') $$, 'PM002', null, 'an infinite time is refused'
);
select ok(memory.sign_off_runner(), 'a runner signs off');

select * from finish();
rollback;
