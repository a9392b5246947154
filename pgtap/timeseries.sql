begin;
\ir fixtures.sql
select plan(16);

insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, created_at, payload)
select e.tenant_id, e.event_type, 'fact', gen_random_uuid(), e.at, '{}'
from (values
  ('a', 'fact_created', '2026-03-27 10:00Z'::timestamptz), ('a', 'rule_created', '2026-03-27 23:30Z'),
  ('a', 'episode_created', '2026-03-28 00:00Z'), ('a', 'entry_created', '2026-03-28 10:00Z'),
  ('a', 'fact_superseded', '2026-03-28 11:00Z'), ('a', 'fact_retracted', '2026-03-28 12:00Z'),
  ('a', 'entry_deleted', '2026-03-28 12:00Z'), ('a', 'episode_expired', '2026-03-28 12:30Z'), ('a', 'fact_expired', '2026-03-28 13:00Z'),
  ('a', 'memory_expired', '2026-03-28 13:00Z'), ('a', 'episode_consolidated', '2026-03-28 14:00Z'),
  ('a', 'fact_confirmed', '2026-03-28 15:00Z'), ('a', 'rule_confirmed', '2026-03-28 16:00Z'),
  ('a', 'fact_fading', '2026-03-28 17:00Z'), ('a', 'settings_updated', '2026-03-28 18:00Z'),
  ('a', 'link_created', '2026-03-28 18:00Z'), ('a', 'entity_created', '2026-03-28 18:00Z'),
  ('b', 'fact_created', '2026-03-28 18:00Z')
) as e (tenant_id, event_type, at);

select results_eq(
  $$ select * from memory.memory_timeseries('day', '2026-03-27 12:00Z', '2026-03-29 12:00Z') $$,
  $$ values
     ('2026-03-27Z'::timestamptz, 2::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint),
     ('2026-03-28Z', 2, 1, 3, 2, 1, 2),
     ('2026-03-29Z', 0, 0, 0, 0, 0, 0) $$,
  'each day counts what happened to memories, whole days from the first to the last'
);
select is(
  (select array[count(*), sum(t.stored)]::numeric[] from memory.memory_timeseries(as_of => '2026-03-28 12:00Z') as t), '{30,4}',
  'without times there are 30 days, with today'
);
select is(
  (select array[sum(t.stored), sum(t.confirmed), sum(t.superseded)]::bigint[] from memory.memory_timeseries(types => '{rule,entry}', as_of => '2026-03-28 12:00Z') as t),
  '{2,1,0}', 'types restrict it'
);
select results_eq(
  $$ select t.starts_at, t.stored from memory.memory_timeseries('hour', '2026-03-27 23:00Z', '2026-03-28 00:30Z') as t $$,
  $$ values ('2026-03-27 23:00Z'::timestamptz, 1::bigint), ('2026-03-28 00:00Z', 1) $$, 'it can be by hour'
);
select results_eq(
  $$ select t.starts_at, t.stored from memory.memory_timeseries('week', '2026-03-28Z', '2026-03-31Z') as t $$,
  $$ values ('2026-03-23Z'::timestamptz, 4::bigint), ('2026-03-30Z', 0) $$, 'by week, which begins on Monday'
);
select results_eq(
  $$ select t.starts_at, t.stored from memory.memory_timeseries('month', '2026-02-28Z', '2026-03-31Z') as t $$,
  $$ values ('2026-02-01Z'::timestamptz, 0::bigint), ('2026-03-01Z', 4) $$, 'or by month'
);
select memory.configure('{"time_zone": "Europe/Berlin"}') \g /dev/null
select results_eq(
  $$ select t.starts_at, t.stored from memory.memory_timeseries('day', '2026-03-27 12:00Z', '2026-03-29 12:00Z') as t $$,
  $$ values ('2026-03-26 23:00Z'::timestamptz, 1::bigint), ('2026-03-27 23:00Z', 3), ('2026-03-28 23:00Z', 0) $$,
  'a day begins when it does for the tenant'
);
select is(
  (select max(t.starts_at) from memory.memory_timeseries('day', to_at => '2026-03-30 12:00Z') as t), '2026-03-29 22:00Z'::timestamptz,
  'summer time included'
);
select throws_ok(format('select memory.memory_timeseries(%s)', c.arguments), 'PM002', null, format('%s is refused', c.what))
from (values
  (1, 'an unknown bucket', '''minute'''),
  (2, 'the later time first', 'from_at => ''2026-03-02Z'', to_at => ''2026-03-01Z'''),
  (3, 'more than a thousand hours', '''hour'', ''2026-01-01Z'', ''2026-03-01Z'''),
  (4, 'an infinite time', 'from_at => ''-infinity'''),
  (5, 'no time', 'as_of => null'),
  (6, 'an unknown type', 'types => ''{entity}''')
) as c (position, what, arguments)
order by c.position;
select is(
  (select count(*) from memory.memory_timeseries('hour', '2026-01-01Z', '2026-02-11 15:00Z')), 1000::bigint, 'a thousand hours are not'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  (select sum(t.stored) from memory.memory_timeseries(as_of => '2026-03-28 12:00Z') as t), 1::numeric, 'each tenant has its own'
);

select * from finish();
rollback;
