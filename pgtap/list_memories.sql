begin;
\ir fixtures.sql
select plan(24);

select is_empty($$ select * from memory.list_memories() $$, 'an empty memory lists nothing');

insert into memory.episodes (id, tenant_id, butler, content, created_at, expires_at)
values
('e0000000-0000-0000-0000-000000000001', 'a', 'home', 'e1', '2026-01-01Z', null),
('e0000000-0000-0000-0000-000000000002', 'a', 'work', 'e2', '2026-01-05Z', '2026-01-12Z'),
('e0000000-0000-0000-0000-000000000003', 'b', 'home', 'e3', '2026-01-09Z', null);
insert into memory.facts (id, tenant_id, subject, predicate, content, validity, scope, created_at)
values
('ab000000-0000-0000-0000-000000000001', 'a', 's', '1', 'f1', 'active', 'global', '2026-01-02Z'),
('ab000000-0000-0000-0000-000000000002', 'a', 's', '2', 'f2', 'superseded', 'home', '2026-01-03Z'),
('ab100000-0000-0000-0000-000000000003', 'b', 's', '3', 'f3', 'active', 'global', '2026-01-04Z');
insert into memory.rules (id, tenant_id, content, scope, created_at)
values ('ab200000-0000-0000-0000-000000000001', 'a', 'r1', 'home', '2026-01-04Z');
insert into memory.entries (id, tenant_id, entry_id, content, scope, retention, policy, user_id, created_at)
values
('c0000000-0000-0000-0000-000000000001', 'a', 'mem-2026-01-06-001', 'n1', 'global', 'active', 'meridian', null, '2026-01-06Z'),
('c0000000-0000-0000-0000-000000000002', 'a', 'mem-2026-01-07-001', 'n2', 'global', 'archived', 'meridian', null, '2026-01-07Z'),
('c0000000-0000-0000-0000-000000000003', 'a', 'mem-2026-01-08-001', 'n3', 'global', 'active', 'billy', 'Ada', '2026-01-08Z');
insert into memory.entities (id, tenant_id, canonical_name, entity_type)
values ('ab300000-0000-0000-0000-000000000001', 'a', 'Ada  Lovelace', 'person');

select memory_test.as_tenant('a');
select results_eq(
  $$ select l.memory_type, l.content, l.state, l.entry_id from memory.list_memories(as_of => '2026-01-10Z') as l $$,
  $$ values
     ('entry', 'n1', 'active', 'mem-2026-01-06-001'), ('episode', 'e2', 'pending', null),
     ('rule', 'r1', 'active', null), ('fact', 'f1', 'active', null), ('episode', 'e1', 'pending', null) $$,
  'list_memories lists what searches find, newest first, and never guarded entries'
);
select results_eq(
  $$ select l.content from memory.list_memories(max_results => 2, as_of => '2026-01-10Z') as l $$,
  $$ values ('n1'), ('e2') $$, 'max_results limits it'
);
select results_eq(
  $$ select l.content from memory.list_memories(types => '{fact,rule}', as_of => '2026-01-10Z') as l $$,
  $$ values ('r1'), ('f1') $$, 'types restrict it'
);
select results_eq(
  $$ select l.content from memory.list_memories(scope => 'home', as_of => '2026-01-10Z') as l $$,
  $$ values ('n1'), ('r1'), ('f1'), ('e1') $$, 'a scope restricts it to its own and global memories'
);
select results_eq(
  $$ select l.content, l.state, l.subject, l.predicate
     from memory.list_memories(states => '{superseded,archived}', as_of => '2026-01-10Z') as l $$,
  $$ values ('n2', 'archived', null, null), ('f2', 'superseded', 's', '2') $$, 'states select others'
);
select results_eq(
  $$ select l.content, l.state from memory.list_memories(states => '{expired}', as_of => '2026-01-12Z') as l $$,
  $$ values ('e2', 'expired') $$, 'what has run out is expired'
);
select is_empty(
  $$ select * from memory.list_memories('{episode}', 'work', as_of => '2026-01-12Z') $$,
  'and no longer in the list'
);
select is_empty(
  $$ select * from memory.list_memories(states => '{pending}', scope => 'work', as_of => '2026-01-12Z') $$,
  'nor in its former state'
);
select set_config('memory.butler', 'home', true);
select results_eq(
  $$ select l.content from memory.list_memories('{episode,rule}', as_of => '2026-01-10Z') as l $$,
  $$ values ('r1'), ('e1') $$, 'a butler sees its own memories'
);
select results_eq(
  $$ select l.content from memory.list_memories('{episode,rule}', '*', as_of => '2026-01-10Z') as l $$,
  $$ values ('e2'), ('r1'), ('e1') $$, 'and all with the scope *'
);
select set_config('memory.butler', '', true);
select throws_like(
  $$ select memory.list_memories(types => '{entity}') $$, 'unknown memory types: %', 'an unknown type is refused'
);
select throws_like(
  $$ select memory.list_memories(states => '{guarded}') $$, 'unknown states: {guarded}', 'an unknown state is refused'
);
select throws_ok($$ select memory.list_memories(states => '{}') $$, 'PM002', null, 'so are no states');
select throws_ok($$ select memory.list_memories(max_results => 0) $$, 'PM002', null, 'max_results of 0 is refused');
select throws_ok($$ select memory.list_memories(as_of => null) $$, 'PM002', null, 'a NULL time is refused');

select results_eq(
  $$ select f.kind, f.id::text, f.title from memory.find_ids('ab00') as f $$,
  $$ values
     ('fact', 'ab000000-0000-0000-0000-000000000001', '[s] [1]: f1'),
     ('fact', 'ab000000-0000-0000-0000-000000000002', '[s] [2]: f2') $$,
  'find_ids finds ids by their first digits, in any state'
);
select results_eq(
  $$ select f.kind, f.title from memory.find_ids('AB300000-00') as f $$,
  $$ values ('entity', 'Ada Lovelace') $$, 'hyphens and case do not matter; entities are found by name'
);
select is(
  (select array_agg(f.kind) from memory.find_ids('ab000000-0000-0000-0000-000000000001') as f), '{fact}',
  'a whole id finds itself'
);
select is_empty($$ select * from memory.find_ids('ab00', '{rule,entity}') $$, 'kinds restrict it');
select is_empty($$ select * from memory.find_ids('ab10') $$, 'ids of another tenant are not found');
select is(
  (select array_agg(f.title) from memory.find_ids('c000') as f), '{n1,n2}', 'guarded entries are not found'
);
select throws_ok(
  $$ select memory.find_ids(p) from unnest('{ab0,ab0g,NULL}'::text[]) as t (p) $$, 'PM002', null,
  'too few digits are refused'
);
select throws_ok($$ select memory.find_ids('ab00', '{run}') $$, 'PM002', null, 'unknown kinds are refused');

select * from finish();
rollback;
