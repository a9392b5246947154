begin;
\ir fixtures.sql
select plan(55);

-- Bob and Robert turn out to be the same person.

select memory.entity_create('Bob', 'person', aliases => '{Bobby,robert,Rob}', metadata => '{"mood": "well", "age": 40}', as_of => '2026-01-01Z') as bob \gset
select memory.entity_create('Robert', 'person', aliases => '{Bobby,Bert}', metadata => '{"age": 41}', as_of => '2026-01-01Z') as robert \gset
select memory.entity_create('Ada', 'person', as_of => '2026-01-01Z') as ada \gset

select memory.store_fact('Bob', 'lives in', 'Paris', entity_id => :'bob', confidence => 0.9, as_of => '2026-01-02Z') as b_lives \gset
select memory.store_fact('Robert', 'lives in', 'Rome', entity_id => :'robert', confidence => 0.8, as_of => '2026-01-02Z') as r_lives \gset
select memory.store_fact('Bob', 'eats', 'fish', entity_id => :'bob', confidence => 0.7, metadata => '{"k": 1}', valid_to => '2030-01-01Z', as_of => '2026-01-02Z') as b_eats \gset
select memory.store_fact('Robert', 'eats', 'meat', entity_id => :'robert', confidence => 0.7, as_of => '2026-01-02Z') as r_eats \gset
select memory.store_fact('Bob', 'drinks', 'water', entity_id => :'bob', as_of => '2026-01-02Z') as b_old \gset
select memory.store_fact('Bob', 'drinks', 'wine', entity_id => :'bob', as_of => '2026-01-03Z') as b_drinks \gset
select memory.store_fact('Bob', 'eats', 'cake', scope => 'home', entity_id => :'bob', as_of => '2026-01-02Z') as b_home \gset
select memory.store_fact('Ada', 'knows', 'Bob', entity_id => :'ada', object_entity_id => :'bob', as_of => '2026-01-02Z') as a_knows \gset
select memory.store_fact('Bob', 'is', 'Bob', entity_id => :'bob', object_entity_id => :'bob', as_of => '2026-01-02Z') as b_is \gset

-- What is compared before and after: entities and facts without what counts and dates them.
create function memory_test.state()
  returns jsonb
  language sql
  begin atomic
    select jsonb_build_object(
      'facts', (
        select jsonb_agg(to_jsonb(f) - 'updated_at' order by f.id) from memory.facts as f where f.tenant_id = 'a'
      ),
      'entities', (
        select jsonb_agg(to_jsonb(e) - 'updated_at' order by e.id) from memory.entities as e where e.tenant_id = 'a'
      ),
      'names', (
        select jsonb_agg(to_jsonb(n) order by n.name, n.entity_id) from memory.entity_names as n where n.tenant_id = 'a'
      ),
      'links', (
        select jsonb_agg(to_jsonb(l) order by l.source_id, l.target_id) from memory.memory_links as l where l.tenant_id = 'a'
      )
    );
  end;
select memory_test.state() as before \gset

select throws_ok(format('select memory.entity_merge(%L, %1$L)', :'bob'), 'PM002', 'an entity cannot be merged into itself', 'not into itself');
select throws_ok(
  format('select memory.entity_merge(%L, %L)', '00000000-0000-0000-0000-0000000000ff', :'bob'), 'PM001',
  'no entity has id 00000000-0000-0000-0000-0000000000ff', 'not one that does not exist'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'bob', '00000000-0000-0000-0000-0000000000ff'), 'PM001', null, 'nor into one'
);
select throws_ok(format('select memory.entity_merge(%L, null)', :'bob'), 'PM001', 'no entity has id NULL', 'nor into nothing');
select throws_ok(format($$ select memory.entity_merge(%L, %L, '2025-01-01Z') $$, :'bob', :'robert'), 'PM002', null, 'nor before they were made');
select throws_ok(format($$ select memory.entity_unmerge(%L) $$, :'bob'), 'PM004', null, 'and what is not merged cannot be unmerged');

select facts_repointed, facts_superseded, historical_facts_moved, mentions_repointed, aliases_added
from memory.entity_merge(:'bob', :'robert', '2026-02-01Z') \gset

select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint, %L::bigint, %L::bigint', :'facts_repointed', :'facts_superseded', :'historical_facts_moved', :'mentions_repointed', :'aliases_added'),
  $$ values (3::bigint, 2::bigint, 1::bigint, 2::bigint, 1::bigint) $$, 'a merge tells what it did'
);
select is_empty(
  format('select * from memory.facts as f where %L in (f.entity_id, f.object_entity_id)', :'bob'), 'nothing is about the source any more'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_drinks', :'b_old'),
  format($$ values ('active', %L::uuid), ('superseded', %1$L) $$, :'robert'), 'facts came along, those of the past too'
);
select is((select f.validity from memory.facts as f where f.id = :'b_home'), 'active', 'another scope is no conflict');
select results_eq(
  format('select f.validity, f.supersedes_id from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_lives', :'r_lives'),
  format($$ values ('active', %L::uuid), ('superseded', null) $$, :'r_lives'), 'of two the surer one stays: that of the source'
);
select is((select f.validity from memory.facts as f where f.id = :'b_lives'), 'active', 'which was surer');
select results_eq(
  format('select f.validity, f.supersedes_id, f.valid_to from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_eats', :'r_eats'),
  format($$ values ('active', %L::uuid, null), ('superseded', null, '2026-02-01Z'::timestamptz) $$, :'b_eats'), 'that of the target if they are equal'
);
select is((select f.validity from memory.facts as f where f.id = :'r_eats'), 'active', 'which it is');
select results_eq(
  format($$ select l.source_id, l.relation from memory.memory_links as l where l.target_id = %L $$, :'b_eats'),
  format($$ values (%L::uuid, 'supersedes') $$, :'r_eats'), 'what supersedes is linked to what gave way'
);
select ok('fact_superseded' = any (memory_test.events_of(:'b_eats')), 'a fact that gave way has its event');
select ok('fact_updated' = any (memory_test.events_of(:'b_drinks')), 'as has one that came along');
select results_eq(
  format('select aliases, metadata from memory.entity_get(%L)', :'robert'),
  $$ values ('{Bobby,Bert,Rob,Bob}'::text[], '{"age": 41, "mood": "well"}'::jsonb) $$,
  'the target has all names, its own metadata wins'
);
select results_eq(
  format('select lifecycle_state, merged_into, active_facts, updated_at from memory.entity_get(%L)', :'bob'),
  format($$ values ('merged', %L::uuid, 0::bigint, '2026-02-01Z'::timestamptz) $$, :'robert'), 'the source is a tombstone'
);
select is((select e.metadata ->> 'merged_into' from memory.entities as e where e.id = :'bob'), :'robert', 'that names the target');
select results_eq(
  $$ select canonical_name, name_match from memory.entity_resolve('bob') $$,
  $$ values ('Robert', 'alias') $$, 'its name leads to the target'
);
select results_eq(
  format($$ select e.payload - 'from' - 'to' from memory.memory_events as e where e.event_type = 'entity_merge' and e.memory_id = %L $$, :'bob'),
  format(
    $$ values ('{"source_entity_id": %s, "target_entity_id": %s, "facts_repointed": 3, "facts_superseded": 2, "aliases_added": 1, "historical_facts_moved": 1, "mentions_repointed": 2}'::jsonb) $$,
    to_json(:'bob'::text), to_json(:'robert'::text)
  ),
  'one event tells of it, in ids and numbers'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'bob', :'ada'), 'PM004',
  format('entity %s was merged into %s already', :'bob', :'robert'), 'what was merged is not merged again'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'ada', :'bob'), 'PM004', null, 'nor merged into'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person') $$, 'PM004', null, 'its name stays taken'
);
select throws_ok(format($$ select memory.entity_update(%L, 'Bobby') $$, :'bob'), 'PM003', null, 'it is not changed');
select throws_ok(
  format($$ select memory.store_fact('Bob', 'x', 'y', entity_id => %L) $$, :'bob'), 'PM003', null, 'and no fact is stored about it'
);
select is_empty($$ select * from memory.verify_chain() where memory_type = 'entity' or problem like 'memory%' or problem like 'state%' $$, 'events and rows agree');
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L), (%L)) as f (id) cross join memory.replay_memory('fact', f.id) as p where p.problem is not null $$, :'b_eats', :'r_lives', :'b_drinks'),
  'and so does the history of facts'
);
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L)) as f (id) cross join memory.replay_memory('entity', f.id) as p where p.problem is not null $$, :'bob', :'robert'),
  'and of the entities'
);

-- Taken back at once, all is as it was.

select throws_ok(format($$ select memory.entity_unmerge(%L, '2026-01-31Z') $$, :'bob'), 'PM002', null, 'no merge is taken back before it was made');
savepoint merged;
select facts_returned, facts_reactivated, facts_kept, mentions_returned, aliases_removed
from memory.entity_unmerge(:'bob', '2026-03-01Z') \gset
select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint, %L::bigint, %L::bigint', :'facts_returned', :'facts_reactivated', :'facts_kept', :'mentions_returned', :'aliases_removed'),
  $$ values (6::bigint, 2::bigint, 0::bigint, 2::bigint, 2::bigint) $$, 'taking it back tells what it did'
);
select is(memory_test.state() -> 'facts', :'before'::jsonb -> 'facts', 'facts are as they were');
select is(memory_test.state() -> 'entities', :'before'::jsonb -> 'entities', 'entities are as they were');
select is(memory_test.state() -> 'names', :'before'::jsonb -> 'names', 'names are as they were');
select is(memory_test.state() -> 'links', :'before'::jsonb -> 'links', 'links are as they were');
select is(memory_test.events_of(:'bob'), '{entity_created,entity_merge,entity_unmerge}', 'the audit stream has both');
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L), (%L)) as f (id) cross join memory.replay_memory('fact', f.id) as p where p.problem is not null $$, :'b_eats', :'r_lives', :'b_drinks'),
  'and agrees with the history'
);
select lives_ok(format('select memory.entity_merge(%L, %L)', :'robert', :'bob'), 'they can be merged again, the other way round');
select lives_ok(format('select memory.entity_unmerge(%L)', :'robert'), 'and unmerged');
select is(memory_test.state() -> 'facts', :'before'::jsonb -> 'facts', 'as often as wanted');
rollback to merged;

-- Taken back later, what happened since stays.

select memory.store_fact('Robert', 'lives in', 'Berlin', entity_id => :'robert', as_of => '2026-02-10Z') as berlin \gset
select memory.forget_memory('fact', :'r_eats', '2026-02-11Z') \g /dev/null
select memory.restore_memory('fact', :'b_eats', '2026-02-12Z') \g /dev/null
select memory.entity_update(:'robert', aliases => '{Bobby,Bob,Robi}', metadata => '{"mood": "ill"}', as_of => '2026-02-12Z') \g /dev/null
select facts_returned, facts_reactivated, facts_kept from memory.entity_unmerge(:'bob', '2026-03-01Z') \gset
select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint', :'facts_returned', :'facts_reactivated', :'facts_kept'),
  $$ values (6::bigint, 0::bigint, 2::bigint) $$, 'nothing is made active that was dealt with since'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id = %L', :'b_lives'),
  format($$ values ('superseded', %L::uuid) $$, :'bob'), 'what was superseded since returns as that'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id = %L', :'berlin'),
  format($$ values ('active', %L::uuid) $$, :'robert'), 'by a fact that stays where it was stored'
);
select is((select f.validity from memory.facts as f where f.id = :'b_eats'), 'active', 'what was restored since is active');
select results_eq(
  format('select aliases, metadata from memory.entity_get(%L)', :'robert'),
  $$ values ('{Bobby,Robi}'::text[], '{"age": 41, "mood": "ill"}'::jsonb) $$, 'names and metadata given since stay'
);

-- Chains

select memory.entity_merge(:'ada', :'bob', '2026-04-01Z') \g /dev/null
select memory.entity_merge(:'bob', :'robert', '2026-04-02Z') \g /dev/null
select is((select merged_into from memory.entity_get(:'ada')), :'robert'::uuid, 'one that was merged twice tells who stands for it now');
select throws_ok(
  format('select memory.entity_unmerge(%L)', :'ada'), 'PM004', format('entity %s was merged into %s in turn', :'bob', :'robert'),
  'merges are taken back in the reverse order'
);
select memory.entity_unmerge(:'bob', '2026-04-03Z') \g /dev/null
select lives_ok(format($$ select memory.entity_unmerge(%L, '2026-04-04Z') $$, :'ada'), 'which this is');
select is((select f.entity_id from memory.facts as f where f.id = :'a_knows'), :'ada'::uuid, 'and facts are where they began');

-- Bounds

select memory.entity_create('Many', 'other', aliases => array(select 'name ' || n from generate_series(1, 1000) as n)) as many \gset
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'many', :'bob'), 'PM002', null, 'more names than an entity may have are refused'
);
select is((select lifecycle_state from memory.entity_get(:'many')), 'active', 'and nothing has changed');

-- Erasing

select memory.entity_merge(:'bob', :'robert', '2026-05-01Z') \g /dev/null
select memory.erase_subject('Robert', false) \g /dev/null
select is_empty(
  format('select * from memory.entities as e where e.id in (%L, %L)', :'bob', :'robert'),
  'erasing an entity erases those that were merged into it'
);
select is_empty(
  format('select * from memory.memory_history as h where h.memory_id in (%L, %L)', :'bob', :'robert'), 'and what they were called'
);
select is(
  (select f.object_entity_id from memory.facts as f where f.id = :'a_knows'), null, 'facts about others do not name it any more'
);
select * from finish();
rollback;
