begin;
\ir fixtures.sql
select plan(33);

create view memory_test.shown as
select e.* from memory.entries as e where e.tenant_id = memory.current_tenant();
-- How much a task of upkeep changed.
create function memory_test.upkeep(period text, task text, as_of timestamptz)
  returns bigint
  language sql
  volatile
  return (select u.changed from memory.run_entry_upkeep(period, as_of) as u where u.task = upkeep.task);

-- Bands

select (memory.create_entry('Band', as_of => '2023-01-01Z')).entry_id as band \gset
create table memory_test.seen (days numeric, changed bigint, retention text, lifecycle_state text);
do $$
declare
  v_days numeric;
  v_changed bigint;
begin
  foreach v_days in array array[0, 89.999, 90, 179.999, 180, 364.999, 365, 1000] loop
    v_changed := memory_test.upkeep('monthly', 'moved to another band', '2023-01-01Z'::timestamptz + v_days * interval '1 day');
    insert into memory_test.seen select v_days, v_changed, e.retention, e.lifecycle_state from memory_test.shown as e;
  end loop;
end;
$$;
select results_eq(
  $$ select * from memory_test.seen order by days $$,
  $$ values (0.0, 0::bigint, 'active', 'active'), (89.999, 0, 'active', 'active'), (90, 1, 'aging', 'active'), (179.999, 0, 'aging', 'active'),
     (180, 1, 'aged', 'aged'), (364.999, 0, 'aged', 'aged'), (365, 1, 'archived', 'archived'), (1000, 0, 'archived', 'archived') $$,
  'an entry is active for 90 days, aging until 180, aged until 365, then archived'
);
select is(
  memory_test.events_of(memory.get_entry_uuid(:'band')), '{entry_created,entry_aged,entry_archived}', 'its way into the archive is audited'
);
select memory.update_entry(:'band', content => 'Band again', as_of => '2026-01-01Z') \g /dev/null
select is((select e.retention from memory_test.shown as e), 'active', 'an edited entry is active again');
select is(memory_test.upkeep('monthly', 'moved to another band', '2026-03-01Z'), 0::bigint, 'its age counts from the edit');

-- Decay of what is not used

select memory_test.as_tenant('b') \g /dev/null
select (memory.create_entry('Idle', confidence => 0.7, as_of => '2026-01-01Z')).entry_id as idle \gset
select (memory.create_entry('Low', confidence => 0.02, as_of => '2026-01-01Z')).entry_id as low \gset
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-01-30 23:59:59Z'), 0::bigint, 'an entry keeps its confidence for 30 days');
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-01-31Z'), 2::bigint, '30 days without access lower it');
select results_eq(
  $$ select e.title, e.confidence, e.decayed_at from memory_test.shown as e order by e.title $$,
  $$ values ('Idle', 0.65::float8, '2026-01-31Z'::timestamptz), ('Low', 0, '2026-01-31Z') $$, 'by 0.05, but not below 0'
);
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-01-31Z'), 0::bigint, 'once, even if the task runs twice');
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-04-01Z'), 1::bigint, 'a job that did not run for long makes up for it');
select is((select e.confidence from memory_test.shown as e where e.title = 'Idle'), 0.55::float8, '60 days lower it twice');
select memory.get_entry(:'idle', '2026-04-15Z') \g /dev/null
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-05-14Z'), 0::bigint, 'an access lets the 30 days begin again');
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-05-15Z'), 1::bigint, 'and then they pass');
select memory.rate_entry(:'idle', 'confirmed', as_of => '2026-06-01Z') \g /dev/null
select is(memory_test.upkeep('daily', 'lowered confidence', '2026-06-30Z'), 0::bigint, 'so does a confirmation');

-- Expiry and deletion

select memory_test.as_tenant('c') \g /dev/null
select (memory.create_entry('Expiring', expires_at => '2026-02-01Z', as_of => '2026-01-01Z')).entry_id as expiring \gset
select (memory.create_entry('Deleted', as_of => '2026-01-01Z')).entry_id as deleted \gset
insert into memory.entries (tenant_id, entry_id, content, policy, scope, user_id, expires_at, created_at, edited_at)
values ('c', 'mem-2026-01-01-900', 'Guarded', 'billy', 'strict', 'ada', '2026-02-01Z', '2026-01-01Z', '2026-01-01Z');
select is(memory_test.upkeep('daily', 'expired', '2026-01-31 23:59:59Z'), 0::bigint, 'nothing expires early');
select is(memory_test.upkeep('daily', 'expired', '2026-02-01Z'), 1::bigint, 'what has expired is marked; guarded entries are not');
select results_eq(
  $$ select e.title, e.lifecycle_state, e.expired_at from memory_test.shown as e order by e.title $$,
  $$ values ('Deleted', 'active', null::timestamptz), ('Expiring', 'expired', '2026-02-01Z'), ('Guarded', 'guarded', null) $$,
  'it has the time of its expiry'
);
select is(memory_test.upkeep('daily', 'expired', '2026-02-01Z'), 0::bigint, 'nothing expires twice');
select memory.delete_entry(:'deleted', as_of => '2026-02-01Z') \g /dev/null
select is(memory_test.upkeep('daily', 'purged', '2026-03-02 23:59:59Z'), 0::bigint, 'what was deleted or has expired is kept for 30 days');
select is(memory_test.upkeep('daily', 'purged', '2026-03-03Z'), 2::bigint, 'and deleted for good after exactly 30');
select results_eq($$ select e.title from memory_test.shown as e $$, $$ values ('Guarded') $$, 'the others stay');
select is(memory_test.upkeep('daily', 'purged', '2026-03-03Z'), 0::bigint, 'nothing is deleted twice');

-- Weekly

select memory_test.as_tenant('d') \g /dev/null
select (memory.create_entry('Tea is green', tags => '["drink"]', as_of => '2026-01-01Z')).entry_id as tea \gset
select (memory.create_entry('Coffee is black', related => array[:'tea'], as_of => '2026-01-01Z')).entry_id as coffee \gset
delete from memory.embedding_queue where tenant_id = 'd';
select results_eq(
  $$ select u.task, u.changed, u.measured from memory.run_entry_upkeep('weekly', '2026-01-05Z') as u $$,
  $$ values ('queued for a vector', 2::bigint, null::bigint), ('search vectors repaired', 0, 2), ('links that have lost an end', 0, 0) $$,
  'weekly upkeep queues what has no vector and finds nothing wrong'
);
select is(memory_test.upkeep('weekly', 'queued for a vector', '2026-01-05Z'), 0::bigint, 'nothing is queued twice');
alter table memory.entries disable trigger user;
update memory.entries set search_vector = 'x' where tenant_id = 'd' and title = 'Tea is green';
alter table memory.entries enable trigger user;
select is(memory_test.upkeep('weekly', 'search vectors repaired', '2026-01-05Z'), 1::bigint, 'a wrong search vector is found');
select ok(
  (select e.search_vector @@ 'tea & drink' from memory_test.shown as e where e.title = 'Tea is green'), 'and repaired'
);
select memory.delete_entry(:'tea', true, '2026-01-06Z') \g /dev/null
select is(
  (select u.measured from memory.run_entry_upkeep('weekly', '2026-01-12Z') as u where u.task = 'links that have lost an end'), 0::bigint,
  'a link to an entry that was deleted for good has not lost its end: a tombstone is left'
);
alter table memory.tombstones disable trigger user;
delete from memory.tombstones where tenant_id = 'd';
alter table memory.tombstones enable trigger user;
select is(
  (select u.measured from memory.run_entry_upkeep('weekly', '2026-01-12Z') as u where u.task = 'links that have lost an end'), 1::bigint,
  'without the tombstone it has'
);

-- Monthly

select is(
  memory_test.upkeep('monthly', 'numbers of empty days removed', '2026-03-02Z'), 0::bigint, 'the numbers of a day with entries are kept'
);
select memory.delete_entry(:'coffee', true, '2026-03-03Z') \g /dev/null
select is(
  memory_test.upkeep('monthly', 'numbers of empty days removed', '2026-03-03Z'), 1::bigint, 'the numbers of an empty day are removed after 60 days'
);
select set_eq(
  $$ select u.task from memory.run_entry_upkeep('monthly', '2026-03-03Z') as u where u.measured > 0 $$,
  $$ select 'size of ' || c.relname from pg_index as i join pg_class as c on c.oid = i.indexrelid
     where i.indrelid = 'memory.entries'::regclass $$,
  'monthly upkeep measures every index of entries'
);
select throws_ok($$ select memory.run_entry_upkeep('hourly') $$, 'PM002', null, 'there is no other period');
select throws_ok($$ select memory.run_entry_upkeep(null) $$, 'PM002', null, 'nor none');
select memory_test.as_tenant('') \g /dev/null
select throws_ok($$ select memory.run_entry_upkeep() $$, '28000', null, 'nothing is kept up without a tenant');

select * from finish();
rollback;
