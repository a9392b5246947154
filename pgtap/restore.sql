begin;
\ir fixtures.sql
select plan(25);

-- Facts

select memory.store_fact('Ada', 'lives in', 'Paris', as_of => '2026-01-01Z') as paris \gset
select memory.store_fact('Ada', 'lives in', 'Rome', as_of => '2026-02-01Z') as rome \gset

select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'paris'), 'PM003',
  format('fact %s cannot be restored: fact %s has its place', :'paris', :'rome'),
  'a superseded fact is not restored while its successor is active'
);
select ok(memory.forget_memory('fact', :'rome', '2026-03-01Z'), 'but once that is forgotten');
select ok(memory.restore_memory('fact', :'paris', '2026-03-02Z'), 'it is');
select results_eq(
  format($$ select f.lifecycle_state, f.valid_to, f.last_confirmed_at, f.updated_at from memory.facts as f where f.id = %L $$, :'paris'),
  $$ values ('active', null::timestamptz, '2026-03-02Z'::timestamptz, '2026-03-02Z'::timestamptz) $$,
  'active, confirmed, and without an end'
);
select is(
  memory_test.events_of(:'paris'),
  '{fact_created,fact_superseded,fact_confirmed,fact_restored}', 'with its event'
);
select ok(memory.restore_memory('fact', :'paris', '2026-03-03Z'), 'restoring it again returns true');
select is(cardinality(memory_test.events_of(:'paris')), 4, 'and changes nothing');
select is(
  (select f.lifecycle_state from memory.facts as f where f.id = :'rome'), 'retracted',
  'what was forgotten stays forgotten'
);

select memory.store_fact('Ada', 'mood', 'well', permanence => 'ephemeral', as_of => '2026-01-01Z') as mood \gset
select expired from memory.run_decay_sweep('2026-05-01Z') where memory_type = 'fact' \gset
select is(:expired, 1, 'a fact that has expired');
select memory.restore_memory('fact', :'mood', '2026-05-02Z') \g /dev/null
select is(
  (select s.expired from memory.run_decay_sweep('2026-05-02Z') as s where s.memory_type = 'fact'),
  0::bigint, 'does not expire again at once when it is restored'
);

insert into memory.entities (tenant_id, id, canonical_name, entity_type)
values
('a', '00000000-0000-0000-0000-0000000000e1', 'Bob', 'person'),
('a', '00000000-0000-0000-0000-0000000000e2', 'Robert', 'person');
select memory.store_fact(
  'Bob', 'eats', 'fish', entity_id => '00000000-0000-0000-0000-0000000000e1'
) as fish \gset
select memory.forget_memory('fact', :'fish') \g /dev/null
select memory.store_fact(
  'Bobby', 'eats', 'meat', entity_id => '00000000-0000-0000-0000-0000000000e1'
) as meat \gset
select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'fish'), 'PM003', null,
  'the key of a fact about an entity is that of the entity'
);
select memory.forget_memory('fact', :'meat') \g /dev/null
update memory.entities as e
set metadata = '{"merged_into": "00000000-0000-0000-0000-0000000000e2"}'
where e.canonical_name = 'Bob';
select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'fish'), 'PM003', null,
  'a fact about an entity that was merged away is not restored'
);

-- Rules and episodes

select memory.store_rule('Be brief') as rule \gset
select memory.forget_memory('rule', :'rule') \g /dev/null
select ok(memory.restore_memory('rule', :'rule'), 'a forgotten rule is restored');
select results_eq(
  format($$ select r.lifecycle_state, r.metadata from memory.rules as r where r.id = %L $$, :'rule'),
  $$ values ('active', '{}'::jsonb) $$, 'without its mark'
);
select memory.store_episode('tea', 'home', as_of => '2026-01-01Z') as episode \gset
select memory.forget_memory('episode', :'episode', '2026-01-02Z') \g /dev/null
select memory.restore_memory('episode', :'episode', '2026-01-03Z') \g /dev/null
select is(
  (select e.expires_at from memory.episodes as e where e.id = :'episode'), '2026-01-10Z'::timestamptz,
  'an episode lives for another term'
);

-- Arguments

select throws_ok(
  format($$ select memory.%s(%L, %L, as_of => '2001-01-01Z') $$, c.function, c.memory_type, c.id), 'PM002',
  format('as_of lies before %s %s was created: 2001-01-01 00:00:00+00', c.memory_type, c.id),
  format('%s: not before the %s was created', c.function, c.memory_type)
)
from (
  values
  ('restore_memory', 'fact', :'rome'), ('restore_memory', 'rule', :'rule'), ('restore_memory', 'episode', :'episode'),
  ('forget_memory', 'fact', :'paris'), ('forget_memory', 'rule', :'rule'), ('confirm_memory', 'fact', :'paris')
) as c (function, memory_type, id);

select is(memory.restore_memory('fact', gen_random_uuid()), false, 'false: there is none with this id');
select throws_ok(
  $$ select memory.restore_memory('entity', gen_random_uuid()) $$, 'PM002', null, 'no such type'
);
select throws_ok(
  format($$ select memory.restore_memory('fact', %L, 'infinity') $$, :'paris'), 'PM002', null,
  'no such time'
);
select memory_test.as_tenant('b') \g /dev/null
select is(memory.restore_memory('fact', :'rome'), false, 'nor for another tenant');

select * from finish();
rollback;
