begin;
\ir fixtures.sql
select plan(25);

-- Facts

select memory.store_fact('Ada', 'lives in', 'Paris', as_of => '2026-01-01Z') as paris \gset
select memory.store_fact('Ada', 'lives in', 'Rome', as_of => '2026-02-01Z') as rome \gset

select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'paris'), 'PM003',
  format('fact %s cannot be restored: fact %s is active under its key', :'paris', :'rome'),
  'restoring a superseded fact fails while its successor is active'
);
select ok(
  memory.forget_memory('fact', :'rome', '2026-03-01Z'),
  'the successor of a superseded fact can be forgotten'
);
select ok(
  memory.restore_memory('fact', :'paris', '2026-03-02Z'),
  'a superseded fact can be restored once its successor is forgotten'
);
select results_eq(
  format($$ select f.lifecycle_state, f.valid_to, f.last_confirmed_at, f.updated_at from memory.facts as f where f.id = %L $$, :'paris'),
  $$ values ('active', null::timestamptz, '2026-03-02Z'::timestamptz, '2026-03-02Z'::timestamptz) $$,
  'a restored fact is active and confirmed and has no end'
);
select is(
  memory_test.events_of(:'paris'),
  '{fact_created,fact_superseded,fact_confirmed,fact_restored}', 'restoring a fact writes an event'
);
select ok(
  memory.restore_memory('fact', :'paris', '2026-03-03Z'),
  'restoring a fact again returns true'
);
select is(
  cardinality(memory_test.events_of(:'paris')), 4,
  'restoring a fact again writes no event'
);
select is(
  (select f.lifecycle_state from memory.facts as f where f.id = :'rome'), 'retracted',
  'the forgotten successor of a restored fact stays forgotten'
);

select memory.store_fact('Ada', 'mood', 'well', permanence => 'ephemeral', as_of => '2026-01-01Z') as mood \gset
select expired from memory.run_decay_sweep('2026-05-01Z') where memory_type = 'fact' \gset
select is(:expired, 1, 'an ephemeral fact expires');
select memory.restore_memory('fact', :'mood', '2026-05-02Z') \g /dev/null
select is(
  (select s.expired from memory.run_decay_sweep('2026-05-02Z') as s where s.memory_type = 'fact'),
  0::bigint, 'a restored fact does not expire again at once'
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
  'restoring a fact about an entity fails while another fact has the key of the entity'
);
select memory.forget_memory('fact', :'meat') \g /dev/null
update memory.entities as e
set metadata = '{"merged_into": "00000000-0000-0000-0000-0000000000e2"}'
where e.canonical_name = 'Bob';
select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'fish'), 'PM003', null,
  'a fact about a merged entity cannot be restored'
);

-- Rules and episodes

select memory.store_rule('Be brief') as rule \gset
select memory.forget_memory('rule', :'rule') \g /dev/null
select ok(memory.restore_memory('rule', :'rule'), 'a forgotten rule can be restored');
select results_eq(
  format($$ select r.lifecycle_state, r.metadata from memory.rules as r where r.id = %L $$, :'rule'),
  $$ values ('active', '{}'::jsonb) $$, 'a restored rule is active and no longer marked forgotten'
);
select memory.store_episode('tea', 'home', as_of => '2026-01-01Z') as episode \gset
select memory.forget_memory('episode', :'episode', '2026-01-02Z') \g /dev/null
select memory.restore_memory('episode', :'episode', '2026-01-03Z') \g /dev/null
select is(
  (select e.expires_at from memory.episodes as e where e.id = :'episode'), '2026-01-10Z'::timestamptz,
  'a restored episode lives for another term'
);

-- Arguments

select throws_ok(
  format($$ select memory.%s(%L, %L, as_of => '2001-01-01Z') $$, c.function, c.memory_type, c.id), 'PM002',
  format('as_of lies before %s %s was created: 2001-01-01 00:00:00+00', c.memory_type, c.id),
  format('%s refuses a time before the %s was created', c.function, c.memory_type)
)
from (
  values
  ('restore_memory', 'fact', :'rome'), ('restore_memory', 'rule', :'rule'), ('restore_memory', 'episode', :'episode'),
  ('forget_memory', 'fact', :'paris'), ('forget_memory', 'rule', :'rule'), ('confirm_memory', 'fact', :'paris')
) as c (function, memory_type, id);

select is(
  memory.restore_memory('fact', gen_random_uuid()), false,
  'restoring an unknown memory returns false'
);
select throws_ok(
  $$ select memory.restore_memory('entity', gen_random_uuid()) $$, 'PM002', null,
  'restoring a memory of an unknown type is refused'
);
select throws_ok(
  format($$ select memory.restore_memory('fact', %L, 'infinity') $$, :'paris'), 'PM002', null,
  'restoring a memory at an infinite time is refused'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  memory.restore_memory('fact', :'rome'), false,
  'restoring a memory of another tenant returns false'
);

select * from finish();
rollback;
