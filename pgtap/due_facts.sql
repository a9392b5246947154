begin;
\ir fixtures.sql
select plan(15);

-- What has begun or ended counts from then on, whether or not a sweep has seen it.

create view memory_test.known as
select f.subject, f.predicate, f.content, f.validity, f.valid_from::date as since, f.valid_to::date as until
from memory.facts as f
where f.tenant_id = 'a';

select memory.store_fact('Ada', 'lives in', 'Lisbon', as_of => '2026-01-01Z') \g /dev/null
select memory.store_fact('Ada', 'lives in', 'Berlin', valid_from => '2026-06-01Z', as_of => '2026-02-01Z') \g /dev/null
select memory.store_fact('Ada', 'lives in', 'Lisbon', as_of => '2026-06-10Z') \g /dev/null
select results_eq(
  $$ select k.content, k.validity, k.since, k.until from memory_test.known as k where k.predicate = 'lives in' order by k.since $$,
  $$ values
       ('Lisbon', 'superseded', date '2026-01-01', date '2026-06-01'),
       ('Berlin', 'superseded', '2026-06-01', '2026-06-10'),
       ('Lisbon', 'active', '2026-06-10', null) $$,
  'what is stored after a plan has begun supersedes the plan, and does not repeat what held before'
);
select memory.store_fact('Eve', 'lives in', 'Lisbon', as_of => '2026-01-01Z') \g /dev/null
select memory.store_fact('Eve', 'lives in', 'Berlin', valid_from => '2026-06-01Z', as_of => '2026-02-01Z') \g /dev/null
select memory.store_facts(
  '[{"subject": "Eve", "predicate": "lives in", "content": "Lisbon"}, {"subject": "Eve", "predicate": "eats", "content": "fish"}]',
  as_of => '2026-06-10Z'
) \g /dev/null
select results_eq(
  $$ select k.content, k.validity, k.since, k.until from memory_test.known as k where k.subject = 'Eve' and k.predicate = 'lives in' order by k.since $$,
  $$ values
       ('Lisbon', 'superseded', date '2026-01-01', date '2026-06-01'),
       ('Berlin', 'superseded', '2026-06-01', '2026-06-10'),
       ('Lisbon', 'active', '2026-06-10', null) $$,
  'so it does in a batch'
);
select is(
  (select count(*) from memory.facts as f where f.planned_for is not null), 0::bigint, 'a plan that has begun is no plan any more'
);

select memory.store_fact('Ada', 'works at', 'Acme', valid_to => '2026-02-01Z', as_of => '2026-01-01Z') \g /dev/null
select memory.store_fact('Ada', 'works at', 'Zeta', valid_from => '2025-12-01Z', as_of => '2026-03-01Z') \g /dev/null
select results_eq(
  $$ select k.content, k.validity from memory_test.known as k where k.predicate = 'works at' order by 1 $$,
  $$ values ('Acme', 'expired'), ('Zeta', 'active') $$,
  'a fact whose validity has ended makes no later one history'
);
select memory.store_fact('Eve', 'works at', 'Acme', valid_to => '2026-02-01Z', as_of => '2026-01-01Z') \g /dev/null
select memory.store_facts(
  '[{"subject": "Eve", "predicate": "works at", "content": "Zeta", "valid_from": "2025-12-01Z"}]', as_of => '2026-03-01Z'
) \g /dev/null
select results_eq(
  $$ select k.content, k.validity from memory_test.known as k where k.subject = 'Eve' and k.predicate = 'works at' order by 1 $$,
  $$ values ('Acme', 'expired'), ('Zeta', 'active') $$,
  'nor in a batch'
);
select memory.store_fact('Ada', 'drives', 'a van', valid_to => '2026-02-01Z', as_of => '2026-01-01Z') as van \gset
select memory.forget_memory('fact', :'van', as_of => '2026-01-02Z') \g /dev/null
select memory.store_fact('Ada', 'drives', 'a cab', valid_to => '2026-02-01Z', as_of => '2026-01-03Z') \g /dev/null
select memory.restore_memory('fact', :'van', '2026-02-05Z') \g /dev/null
select results_eq(
  $$ select k.content, k.validity from memory_test.known as k where k.predicate = 'drives' order by 1 $$,
  $$ values ('a cab', 'expired'), ('a van', 'active') $$,
  'nor does it keep another one from being restored'
);

select memory.entity_create('Bo', 'person', as_of => '2026-01-01Z') as bo \gset
select memory.entity_create('Bob', 'person', as_of => '2026-01-01Z') as bob \gset
select memory.store_fact('Bo', 'eats', 'fish', entity_id => :'bo', valid_to => '2026-02-01Z', as_of => '2026-01-02Z') \g /dev/null
select memory.store_fact('Bob', 'eats', 'rice', entity_id => :'bob', as_of => '2026-03-01Z') \g /dev/null
select memory.store_fact('Bo', 'drinks', 'tea', entity_id => :'bo', as_of => '2026-03-01Z') \g /dev/null
select memory.store_fact('Bob', 'drinks', 'milk', entity_id => :'bob', valid_to => '2026-02-01Z', as_of => '2026-01-02Z') \g /dev/null
select results_eq(
  format('select p.change, p.content from memory.merge_preview(%L, %L) as p where p.fact_id is not null order by 2', :'bob', :'bo'),
  $$ values ('moved', 'milk'), ('moved', 'rice') $$,
  'a merge will supersede nothing by what has ended'
);
select memory.entity_merge(:'bob', :'bo', '2026-03-02Z') \g /dev/null
select results_eq(
  format(
    'select f.content, f.validity from memory.facts as f where f.tenant_id = %L and f.entity_id = %L order by 1', 'a', :'bo'
  ),
  $$ values ('fish', 'expired'), ('milk', 'expired'), ('rice', 'active'), ('tea', 'active') $$,
  'nor does it: what has ended expires, on both sides'
);

-- Restored facts end when they said themselves.

select memory.store_fact('Ada', 'leads', 'the lab', valid_to => '2027-06-01Z', as_of => '2026-01-01Z') as lab \gset
select memory.store_fact('Ada', 'leads', 'the office', as_of => '2026-02-01Z') as office \gset
select memory.forget_memory('fact', :'office', as_of => '2026-02-02Z') \g /dev/null
select memory.restore_memory('fact', :'lab', '2026-02-03Z') \g /dev/null
select is(
  (select f.valid_to from memory.facts as f where f.id = :'lab'), timestamptz '2027-06-01Z',
  'a restored fact ends when it said, not when its successor began'
);
select memory.store_fact('Ada', 'moves to', 'Rome', valid_from => '2026-06-01Z', as_of => '2026-01-02Z') as rome \gset
select memory.store_fact('Ada', 'moves to', 'Oslo', valid_from => '2026-06-01Z', as_of => '2026-01-03Z') as oslo \gset
select memory.forget_memory('fact', :'oslo', as_of => '2026-01-04Z') \g /dev/null
select memory.restore_memory('fact', :'rome', '2026-01-05Z') \g /dev/null
select is(
  (select f.valid_to from memory.facts as f where f.id = :'rome'), null, 'a restored plan has no end but its own'
);

-- The same idempotency key again

select memory.store_fact('Ada', 'reads', 'old  books') as reads \gset
select is(
  memory.store_fact('ada', 'READS', 'old books', idempotency_key => 'k1'), :'reads', 'what repeats a fact takes its id'
);
select is(
  memory.store_fact('ada', 'READS', 'old books', idempotency_key => 'k1'), :'reads',
  'and so does the same store once more, with other blanks and case than the fact'
);
select is(
  (
    select s.id
    from memory.store_facts('[{"subject": "ADA", "predicate": "reads", "content": "old books", "idempotency_key": "k1"}]') as s
  ),
  :'reads', 'and the same store in a batch'
);
select throws_ok(
  $$ select memory.store_fact('Ada', 'reads', 'new books', idempotency_key => 'k1') $$, 'PM004', null,
  'other content with the same idempotency key is refused'
);

-- Sweeps

select memory.store_fact('Max', 'says', 'hello', permanence => 'ephemeral', metadata => jsonb_build_object('k', repeat('x', 65527)), as_of => '2026-05-01Z') \g /dev/null
select lives_ok(
  $$ select memory.run_decay_sweep('2026-05-21Z') $$, 'a fact with as much metadata as is allowed can fade'
);

select * from finish();
rollback;
