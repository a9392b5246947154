begin;
\ir fixtures.sql
select plan(20);

-- Filters of list_events, and following it; its pages are in audit.sql.

insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, actor, request_id, created_at)
select
  'a', e.event_type, e.memory_type, ('f0000000-0000-0000-0000-00000000000' || e.n)::uuid, e.actor, e.request_id,
  '2026-01-01Z'::timestamptz + e.n * interval '1 hour'
from (values
  (1, 'fact_created', 'fact', 'Ada', 'r-1'), (2, 'rule_created', 'rule', 'Ada', 'r-1'), (3, 'fact_created', 'fact', 'Eve', 'r-2'),
  (4, 'fact_retracted', 'fact', 'Eve', null), (5, 'settings_updated', null, 'Eve', 'r-3')
) as e (n, event_type, memory_type, actor, request_id)
order by e.n;
insert into memory.memory_events (tenant_id, event_type, actor, request_id, created_at) values ('b', 'fact_created', 'Ada', 'r-1', '2026-01-01Z');

create function memory_test.listed(arguments text) returns integer[] language plpgsql as $$
declare v_listed integer[];
begin
  execute format('select array_agg(extract(hour from e.created_at at time zone ''UTC'')::integer order by e.ordinality) from memory.list_events(%s) with ordinality as e', arguments) into v_listed;
  return v_listed;
end;
$$;
select is(memory_test.listed(c.arguments), c.wanted::integer[], c.what)
from (values
  (1, '', '{5,4,3,2,1}', 'without filters all events are listed, newest first'),
  (2, $$actor => 'Ada'$$, '{2,1}', 'of an actor'),
  (3, $$request_id => 'r-1'$$, '{2,1}', 'of a request'),
  (4, $$memory_type => 'fact'$$, '{4,3,1}', 'of a type of memory'),
  (5, $$from_at => '2026-01-01 02:00Z', to_at => '2026-01-01 04:00Z'$$, '{3,2}', 'of a time, from and before'),
  (6, $$actor => 'Eve', memory_type => 'fact', event_type => 'fact_created'$$, '{3}', 'filters combine'),
  (7, $$actor => 'Eve', max_results => 1$$, '{5}', 'and a page is filled with what passes'),
  (8, $$actor => 'Eve', before_at => '2026-01-01 05:00Z'$$, '{4,3}', 'the next page has the same filters'),
  (9, $$request_id => 'r-9'$$, null, 'an unknown request has no events'),
  (10, $$actor => 'A%'$$, null, 'a percent sign stands for itself')
) as c (position, arguments, wanted, what)
order by c.position;

select e.seq as second from memory.list_events(actor => 'Ada', max_results => 1) as e \gset
select is(memory_test.listed(format('after_seq => %s', :second)), '{3,4,5}', 'what came after an event is listed oldest first');
select is(memory_test.listed(format('after_seq => %s, max_results => 2', :second)), '{3,4}', 'a page of it begins with the oldest');
select is(memory_test.listed(format('after_seq => %s, event_type => ''fact_retracted''', :second)), '{4}', 'filters apply to it, too');
select is(memory_test.listed('after_seq => 0'), '{1,2,3,4,5}', 'it can begin with the first event');
select memory.store_rule('Offer tea') \g /dev/null
select is(
  (select count(*) from memory.list_events(after_seq => :second)), 3::bigint, 'an event of a transaction that still runs waits'
);
select is(
  (select count(*) from memory.list_events(after_seq => :second, as_of => now() + interval '11 seconds')), 4::bigint, 'but not longer than ten seconds'
);
select is((select count(*) from memory.list_events()), 6::bigint, 'the list itself shows it at once to its own transaction');
select throws_ok(
  $$ select memory.list_events(after_seq => 1, before_at => now()) $$, 'PM002', null, 'both directions at once are refused'
);
select throws_ok($$ select memory.list_events(as_of => null) $$, 'PM002', null, 'a NULL time is refused');
select memory_test.as_tenant('b') \g /dev/null
select is((select count(*) from memory.list_events(request_id => 'r-1')), 1::bigint, 'another tenant has its own events');

select * from finish();
rollback;
