begin;
\ir fixtures.sql
select plan(35);

create function memory_test.busy(work text, as_of timestamptz default now())
  returns text[]
  language sql
as $$ select array(select t.tenant_id from memory.list_busy_tenants(work, as_of) as t) $$;

create function memory_test.due(as_of timestamptz)
  returns text[]
  language sql
as $$
  select array(
    select format('%s %s %s', d.tenant_id, d.job, to_char(d.due_at at time zone 'UTC', 'DD HH24:MI:SS'))
    from memory.find_due_jobs_all_tenants(as_of) as d
  )
$$;

-- Work that waits

select memory_test.as_tenant('a') \g /dev/null
select memory.store_fact('user', 'drinks', 'tea', as_of => '2026-03-01Z') as fact_id \gset
select memory_test.as_tenant('b') \g /dev/null
select memory.store_episode('They drank coffee', 'home') as episode_id \gset
select memory_test.as_tenant('c') \g /dev/null
select memory.put_items('[{"namespace": ["x"], "key": "y", "value": {}}]') \g /dev/null

select is(memory_test.busy('embedding'), '{a,b}', 'tenants with a memory without a vector wait for embedding');
select memory_test.as_tenant('a') \g /dev/null
select memory.claim_embedding_jobs(as_of => now()) \g /dev/null
select is(memory_test.busy('embedding'), '{b}', 'those whose memories somebody has claimed do not');
select is(memory_test.busy('embedding', now() + interval '6 minutes'), '{a,b}', 'unless the lease has ended');
select is(memory_test.busy('consolidation'), '{b}', 'tenants with an episode wait for consolidation');
select is(memory_test.busy('reindexing'), '{}', 'no tenant waits for reindexing whose language has not changed');
select memory_test.as_tenant('e') \g /dev/null
select memory.store_facts(jsonb_agg(jsonb_build_object('subject', 's' || n, 'predicate', 'is', 'content', 'x')))
from generate_series(1, 201) as n \g /dev/null
select memory.configure('{"text_search_config": "german"}') \g /dev/null
select is(memory_test.busy('reindexing'), '{e}', 'one with a new language does, if it has many texts');
select memory.reindex_texts() \g /dev/null
select is(memory_test.busy('reindexing'), '{}', 'until all its texts are indexed again');
select throws_ok(
  $$ select memory.list_busy_tenants('cleaning') $$, 'PM002', null, 'unknown work is refused'
);
select throws_ok(
  $$ select memory.list_busy_tenants('embedding', 'infinity') $$, 'PM002', null, 'an infinite time is refused'
);

-- Jobs that are due

create view memory_test.schedules as
select a.attname::text collate "default" as setting
from pg_attribute as a
where a.attrelid = 'memory.settings'::regclass and a.attname like '%\_schedule';
create function memory_test.only(tenant_id text, schedules jsonb)
  returns void
  language sql
as $$
  select memory_test.as_tenant(tenant_id);
  select memory.configure(
    (select jsonb_object_agg(s.setting, 'off') from memory_test.schedules as s) || schedules
  );
$$;
select memory_test.only('c', '{}') \g /dev/null
select memory_test.only('e', '{}') \g /dev/null
select memory_test.only('a', '{"event_seal_schedule": "40 * * * *"}') \g /dev/null
select memory_test.only('b', '{"event_seal_schedule": "20 * * * *", "decay_sweep_schedule": "0 3 * * *"}') \g /dev/null

select is(memory_test.due('2026-03-01 12:00Z'), '{}', 'jobs that nobody has looked for are due at their next time');
select is(
  memory_test.due('2026-03-01 12:45Z'), '{"b seal_events 01 12:20:00","a seal_events 01 12:40:00"}',
  'jobs of all tenants are found when they are due, those that are due longest first'
);
select is(memory.current_tenant(), 'b', 'who looks keeps the tenant of the transaction');
select isnt(memory.run_job('seal_events', '2026-03-01 12:46Z'), null, 'a job that was found runs');
select is(memory_test.due('2026-03-01 12:47Z'), '{"a seal_events 01 12:40:00"}', 'and is not due any more');
select memory.configure('{"event_seal_schedule": "50 * * * *"}') \g /dev/null
select is(
  memory_test.due('2026-03-01 12:51Z'), '{"a seal_events 01 12:40:00","b seal_events 01 12:50:00"}',
  'a schedule that changes counts from then on'
);
select memory.configure('{"event_seal_schedule": "off"}') \g /dev/null
select is(memory_test.due('2026-03-01 14:00Z'), '{"a seal_events 01 12:40:00"}', 'a job that is off is not due');
select memory.configure('{"event_seal_schedule": "10 seconds"}') \g /dev/null
select is(
  memory_test.due('2026-03-01 14:00Z'), '{"a seal_events 01 12:40:00","b seal_events 01 12:46:09"}',
  'one that counts seconds is due a little early'
);
select is(
  (select array_agg(d.job) from memory.find_due_jobs('2026-03-01 14:00Z') as d), '{seal_events}',
  'each tenant finds the same for itself'
);
select memory_test.as_tenant('d') \g /dev/null
select memory.store_rule('Offer tea') \g /dev/null
select memory_test.as_tenant('f') \g /dev/null
select memory.put_items('[{"namespace": ["x"], "key": "y", "value": {}}]') \g /dev/null
select memory_test.as_tenant('g') \g /dev/null
select memory.configure('{"event_seal_schedule": "50 * * * *"}') \g /dev/null
select is(
  array(select d.tenant_id from memory.find_due_jobs_all_tenants('2026-03-01 14:00:50Z') as d where d.tenant_id >= 'd'),
  '{}', 'new tenants are looked for once a minute'
);
select memory_test.due('2026-03-01 14:01Z') \g /dev/null
select is(
  array(
    select d.tenant_id from memory.find_due_jobs_all_tenants('2026-03-02 14:00Z') as d where d.job = 'run_decay_sweep'
  ),
  '{b,d,f,g}', 'a tenant that comes later is looked after as well, also one that has items or settings and no memory'
);

-- As a job leaves it that ran while its schedule was changed.
select memory_test.only('a', '{"event_seal_schedule": "50 * * * *"}') \g /dev/null
update memory.job_runs as r set due_at = '2026-03-02 14:10Z' where r.tenant_id = 'a' and r.job = 'seal_events';
select memory.run_job('seal_events', '2026-03-02 14:00Z') \g /dev/null
update memory.job_runs as r set due_at = '2026-03-02 14:10Z' where r.tenant_id = 'a' and r.job = 'seal_events';
select is(memory.run_job('seal_events', '2026-03-02 14:20Z'), null, 'a job is not run before the time of its new schedule');
select is(
  array(select t.due from unnest(memory_test.due('2026-03-02 14:51Z')) as t (due) where t.due like 'a %'),
  '{"a seal_events 02 14:50:00"}', 'and found when that has come'
);
select memory.configure('{"event_seal_schedule": "off"}') \g /dev/null
update memory.job_runs as r set due_at = '2026-03-02 14:55Z' where r.tenant_id = 'a' and r.job = 'seal_events';
select is(memory.run_job('seal_events', '2026-03-02 15:00Z'), null, 'a job that is off by now is not run');
select is(
  array(select t.due from unnest(memory_test.due('2026-03-02 16:00Z')) as t (due) where t.due like 'a %'), '{}', 'nor found again'
);

-- Many tenants at once
select memory_test.as_tenant('many ' || n), memory.store_rule('Offer tea') from generate_series(1, 501) as n \g /dev/null
select memory_test.due('2026-03-02 17:00Z') \g /dev/null
select is(
  (select count(distinct r.tenant_id) from memory.job_runs as r where r.tenant_id like 'many %'), 500::bigint,
  'of many new tenants 500 are noted at a time'
);
select memory_test.due('2026-03-02 17:00:10Z') \g /dev/null
select is(
  (select count(distinct r.tenant_id) from memory.job_runs as r where r.tenant_id like 'many %'), 501::bigint,
  'and the others next time, within the minute'
);
select memory_test.as_tenant('d') \g /dev/null
select throws_ok(
  $$ select memory.find_due_jobs_all_tenants('infinity') $$, 'PM002', null, 'an infinite time is refused when all are asked for'
);

-- Who looks

select is(
  (select max(s.runner_seen_at) from memory.job_status() as s), '2026-03-02 17:00:10Z'::timestamptz,
  'who looks after all tenants is seen by each'
);
select is(
  array(
    select d.subject || ': ' || d.hint from memory.diagnose(as_of => '2026-03-02 18:00:10Z') as d
    where d.check_name = 'jobs' and d.message like '%was last seen 60 minutes ago%'
  ),
  array['pymem run: Start it again (docs/operations.md); if something else runs the jobs from now on: select memory.sign_off_runner_all_tenants();'],
  'and missed by each when it is gone without a word'
);
select ok(memory.sign_off_runner_all_tenants(), 'it signs off');
select ok(not memory.sign_off_runner_all_tenants(), 'once');
select is((select max(s.runner_seen_at) from memory.job_status() as s), null, 'then it is not missed');

select memory_test.a_login('all_worker', 'a', 'memory_worker');
select memory_test.share_results();
set local session authorization all_worker;
select throws_ok(
  format('select memory.%s', c.call), 'PM005', 'login all_worker may not act for all tenants',
  format('a login of one tenant may not call %s', c.call)
)
from unnest(array['list_busy_tenants(''embedding'')', 'find_due_jobs_all_tenants()', 'sign_off_runner_all_tenants()']) as c (call);

select * from finish();
rollback;
