begin;
\ir fixtures.sql
select plan(71);

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

-- The state that is compared before and after, without the time of the last update.
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

select throws_ok(
  format('select memory.entity_merge(%L, %1$L)', :'bob'), 'PM002', 'an entity cannot be merged into itself',
  'an entity cannot be merged into itself'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', '00000000-0000-0000-0000-0000000000ff', :'bob'), 'PM001',
  'no entity has id 00000000-0000-0000-0000-0000000000ff',
  'an entity that does not exist cannot be merged'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'bob', '00000000-0000-0000-0000-0000000000ff'), 'PM001', null,
  'an entity cannot be merged into one that does not exist'
);
select throws_ok(
  format('select memory.entity_merge(%L, null)', :'bob'), 'PM001', 'no entity has id NULL',
  'an entity cannot be merged into NULL'
);
select throws_ok(
  format($$ select memory.entity_merge(%L, %L, '2025-01-01Z') $$, :'bob', :'robert'), 'PM002', null,
  'entities cannot be merged before they were created'
);
select throws_ok(
  format($$ select memory.entity_unmerge(%L) $$, :'bob'), 'PM004', null,
  'an entity that is not merged cannot be unmerged'
);

select facts_repointed, facts_superseded, historical_facts_moved, mentions_repointed, aliases_added
from memory.entity_merge(:'bob', :'robert', '2026-02-01Z') \gset

select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint, %L::bigint, %L::bigint', :'facts_repointed', :'facts_superseded', :'historical_facts_moved', :'mentions_repointed', :'aliases_added'),
  $$ values (3::bigint, 2::bigint, 1::bigint, 2::bigint, 1::bigint) $$,
  'entity_merge returns what it did'
);
select is_empty(
  format('select * from memory.facts as f where %L in (f.entity_id, f.object_entity_id)', :'bob'),
  'no fact is about the source of a merge'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_drinks', :'b_old'),
  format($$ values ('active', %L::uuid), ('superseded', %1$L) $$, :'robert'),
  'active and superseded facts move to the target of a merge'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'b_home'), 'active',
  'facts of another scope do not conflict in a merge'
);
select results_eq(
  format('select f.validity, f.supersedes_id from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_lives', :'r_lives'),
  format($$ values ('active', %L::uuid), ('superseded', null) $$, :'r_lives'),
  'a more confident fact of the source stays active in a conflict'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'b_lives'), 'active',
  'the more confident fact of the source is the active one'
);
select results_eq(
  format('select f.validity, f.supersedes_id, f.valid_to from memory.facts as f where f.id in (%L, %L) order by f.validity', :'b_eats', :'r_eats'),
  format($$ values ('active', %L::uuid, null), ('superseded', null, '2026-02-01Z'::timestamptz) $$, :'b_eats'),
  'a fact of the target stays active in a conflict of equal confidence'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'r_eats'), 'active',
  'the conflicting fact of the target is the active one'
);
select results_eq(
  format($$ select l.source_id, l.relation from memory.memory_links as l where l.target_id = %L $$, :'b_eats'),
  format($$ values (%L::uuid, 'supersedes') $$, :'r_eats'),
  'a supersedes link leads to the fact that the merge superseded'
);
select ok(
  'fact_superseded' = any (memory_test.events_of(:'b_eats')),
  'a fact that a merge superseded has an event'
);
select ok(
  'fact_updated' = any (memory_test.events_of(:'b_drinks')),
  'a fact that a merge moved has an event'
);
select results_eq(
  format('select aliases, metadata from memory.entity_get(%L)', :'robert'),
  $$ values ('{Bobby,Bert,Rob,Bob}'::text[], '{"age": 41, "mood": "well"}'::jsonb) $$,
  'the target of a merge has all names, and its own metadata wins'
);
select results_eq(
  format('select lifecycle_state, merged_into, active_facts, updated_at from memory.entity_get(%L)', :'bob'),
  format($$ values ('merged', %L::uuid, 0::bigint, '2026-02-01Z'::timestamptz) $$, :'robert'),
  'the source of a merge becomes a tombstone'
);
select is(
  (select e.metadata ->> 'merged_into' from memory.entities as e where e.id = :'bob'), :'robert',
  'the metadata of a merged entity names the target'
);
select results_eq(
  $$ select canonical_name, name_match from memory.entity_resolve('bob') $$,
  $$ values ('Robert', 'alias') $$, 'the name of a merged entity resolves to the target'
);
select results_eq(
  format($$ select e.payload - 'from' - 'to' from memory.memory_events as e where e.event_type = 'entity_merge' and e.memory_id = %L $$, :'bob'),
  format(
    $$ values ('{"source_entity_id": %s, "target_entity_id": %s, "facts_repointed": 3, "facts_superseded": 2, "aliases_added": 1, "historical_facts_moved": 1, "mentions_repointed": 2}'::jsonb) $$,
    to_json(:'bob'::text), to_json(:'robert'::text)
  ),
  'a merge writes one event of ids and numbers'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'bob', :'ada'), 'PM004',
  format('entity %s was already merged into %s', :'bob', :'robert'),
  'a merged entity cannot be merged again'
);
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'ada', :'bob'), 'PM004', null,
  'an entity cannot be merged into a merged one'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person') $$, 'PM004', null,
  'the name of a merged entity stays taken'
);
select throws_ok(
  format($$ select memory.entity_update(%L, 'Bobby') $$, :'bob'), 'PM003', null,
  'a merged entity cannot be updated'
);
select throws_ok(
  format($$ select memory.store_fact('Bob', 'x', 'y', entity_id => %L) $$, :'bob'), 'PM003', null,
  'a fact about a merged entity is refused'
);
select is_empty(
  $$ select * from memory.verify_chain() where memory_type = 'entity' or problem like 'memory%' or problem like 'state%' $$,
  'events and rows agree after a merge'
);
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L), (%L)) as f (id) cross join memory.replay_memory('fact', f.id) as p where p.problem is not null $$, :'b_eats', :'r_lives', :'b_drinks'),
  'the history of merged facts agrees with their rows'
);
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L)) as f (id) cross join memory.replay_memory('entity', f.id) as p where p.problem is not null $$, :'bob', :'robert'),
  'the history of merged entities agrees with their rows'
);

-- An immediate unmerge restores everything.

select throws_ok(
  format($$ select memory.entity_unmerge(%L, '2026-01-31Z') $$, :'bob'), 'PM002', null,
  'a merge cannot be undone before it was made'
);
savepoint merged;
select facts_returned, facts_reactivated, facts_kept, mentions_returned, aliases_removed
from memory.entity_unmerge(:'bob', '2026-03-01Z') \gset
select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint, %L::bigint, %L::bigint', :'facts_returned', :'facts_reactivated', :'facts_kept', :'mentions_returned', :'aliases_removed'),
  $$ values (6::bigint, 2::bigint, 0::bigint, 2::bigint, 2::bigint) $$,
  'entity_unmerge returns what it did'
);
select is(
  memory_test.state() -> 'facts', :'before'::jsonb -> 'facts',
  'an unmerge restores the facts'
);
select is(
  memory_test.state() -> 'entities', :'before'::jsonb -> 'entities',
  'an unmerge restores the entities'
);
select is(
  memory_test.state() -> 'names', :'before'::jsonb -> 'names',
  'an unmerge restores the names'
);
select is(
  memory_test.state() -> 'links', :'before'::jsonb -> 'links',
  'an unmerge restores the links'
);
select is(
  memory_test.events_of(:'bob'), '{entity_created,entity_merge,entity_unmerge}',
  'merging and unmerging an entity each write an event'
);
select is_empty(
  format($$ select p.* from (values (%L::uuid), (%L), (%L)) as f (id) cross join memory.replay_memory('fact', f.id) as p where p.problem is not null $$, :'b_eats', :'r_lives', :'b_drinks'),
  'the history of unmerged facts agrees with their rows'
);
select lives_ok(
  format('select memory.entity_merge(%L, %L)', :'robert', :'bob'),
  'unmerged entities can be merged again in the other direction'
);
select lives_ok(
  format('select memory.entity_unmerge(%L)', :'robert'),
  'a merge in the other direction can be undone'
);
select is(
  memory_test.state() -> 'facts', :'before'::jsonb -> 'facts',
  'a second unmerge restores the facts'
);
rollback to merged;

-- A later unmerge keeps what happened since.

select memory.store_fact('Robert', 'lives in', 'Berlin', entity_id => :'robert', as_of => '2026-02-10Z') as berlin \gset
select memory.forget_memory('fact', :'r_eats', '2026-02-11Z') \g /dev/null
select memory.restore_memory('fact', :'b_eats', '2026-02-12Z') \g /dev/null
select memory.entity_update(:'robert', aliases => '{Bobby,Bob,Robi}', metadata => '{"mood": "ill"}', as_of => '2026-02-12Z') \g /dev/null
select facts_returned, facts_reactivated, facts_kept from memory.entity_unmerge(:'bob', '2026-03-01Z') \gset
select results_eq(
  format('select %L::bigint, %L::bigint, %L::bigint', :'facts_returned', :'facts_reactivated', :'facts_kept'),
  $$ values (6::bigint, 0::bigint, 2::bigint) $$,
  'an unmerge does not reactivate facts that changed since the merge'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id = %L', :'b_lives'),
  format($$ values ('superseded', %L::uuid) $$, :'bob'),
  'a fact that was superseded since the merge returns as superseded'
);
select results_eq(
  format('select f.validity, f.entity_id from memory.facts as f where f.id = %L', :'berlin'),
  format($$ values ('active', %L::uuid) $$, :'robert'),
  'a fact stored after the merge stays with the target'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'b_eats'), 'active',
  'a fact that was restored since the merge stays active'
);
select results_eq(
  format('select aliases, metadata from memory.entity_get(%L)', :'robert'),
  $$ values ('{Bobby,Robi}'::text[], '{"age": 41, "mood": "ill"}'::jsonb) $$,
  'names and metadata given since the merge stay'
);

-- Chains

select memory.entity_merge(:'ada', :'bob', '2026-04-01Z') \g /dev/null
select memory.entity_merge(:'bob', :'robert', '2026-04-02Z') \g /dev/null
select is(
  (select merged_into from memory.entity_get(:'ada')), :'robert'::uuid,
  'an entity that was merged along a chain names the entity that it stands for now'
);
select throws_ok(
  format('select memory.entity_unmerge(%L)', :'ada'), 'PM004', format('entity %s was merged into %s in turn', :'bob', :'robert'),
  'merges in a chain can only be undone in reverse order'
);
select memory.entity_unmerge(:'bob', '2026-04-03Z') \g /dev/null
select lives_ok(
  format($$ select memory.entity_unmerge(%L, '2026-04-04Z') $$, :'ada'),
  'merges in a chain can be undone in reverse order'
);
select is(
  (select f.entity_id from memory.facts as f where f.id = :'a_knows'), :'ada'::uuid,
  'undoing a chain of merges returns facts to their first entity'
);

-- Facts that relate the two to each other

select memory.entity_create('Saul', 'person', as_of => '2026-05-01Z') as saul \gset
select memory.entity_create('Paul', 'person', as_of => '2026-05-01Z') as paul \gset
select memory.store_fact('Saul', 'knows', 'Paul', entity_id => :'saul', object_entity_id => :'paul', as_of => '2026-05-01Z') as s_knows \gset
select memory.store_fact('Paul', 'hears of', 'Saul', entity_id => :'paul', object_entity_id => :'saul', as_of => '2026-05-01Z') as p_hears \gset
select memory.store_fact('Saul', 'meets', 'Paul', entity_id => :'saul', object_entity_id => :'paul', confidence => 0.5, as_of => '2026-05-01Z') as s_meets \gset
select memory.store_fact('Paul', 'meets', 'Ada', entity_id => :'paul', object_entity_id => :'ada', as_of => '2026-05-01Z') as p_meets \gset
select memory.entity_merge(:'saul', :'paul', '2026-05-02Z') \g /dev/null
select results_eq(
  format(
    $$ select f.predicate, f.validity, f.entity_id, f.object_entity_id
       from memory.facts as f where f.id in (%L, %L, %L) order by 1 $$, :'s_knows', :'p_hears', :'s_meets'
  ),
  format(
    $$ values ('hears of', 'active', %1$L::uuid, null::uuid), ('knows', 'active', %1$L, null),
         ('meets', 'superseded', %1$L, null) $$, :'paul'
  ),
  'no fact relates the merged entity to itself'
);
select memory.entity_unmerge(:'saul', '2026-05-03Z') \g /dev/null
select is(
  (
    select jsonb_agg(jsonb_build_array(f.predicate, f.validity, f.entity_id, f.object_entity_id) order by f.predicate)
    from memory.facts as f where f.id in (:'s_knows', :'p_hears', :'s_meets')
  ),
  jsonb_build_array(
    jsonb_build_array('hears of', 'active', :'paul'::uuid, :'saul'::uuid),
    jsonb_build_array('knows', 'active', :'saul'::uuid, :'paul'::uuid),
    jsonb_build_array('meets', 'active', :'saul'::uuid, :'paul'::uuid)
  ),
  'unmerging relates the two to each other again'
);
select is_empty(
  format($$ select l.relation from memory.memory_links as l where l.source_id = %L and l.target_id = %L $$, :'p_meets', :'s_meets'),
  'a fact that becomes active again is no longer linked to the one that superseded it'
);

-- A fact that had superseded one moved by an earlier merge

select memory.entity_create('Saul', 'other', as_of => '2026-01-01Z') as again \gset
select memory.store_fact('Saul', 'sings', 'low', entity_id => :'again', confidence => 0.9, as_of => '2026-05-01Z') as low \gset
select memory.entity_merge(:'again', :'ada', '2026-05-02Z') \g /dev/null
select memory.store_fact('Ada', 'sings', 'high', entity_id => :'ada', confidence => 0.8, as_of => '2026-05-03Z') as high \gset
select memory.entity_unmerge(:'again', '2026-05-04Z') \g /dev/null
select memory.restore_memory('fact', :'low', '2026-05-05Z') \g /dev/null
select memory.entity_merge(:'again', :'ada', '2026-05-06Z') \g /dev/null
select results_eq(
  format('select f.content, f.validity, f.supersedes_id from memory.facts as f where f.id in (%L, %L) order by 1', :'low', :'high'),
  format($$ values ('high', 'superseded', %L::uuid), ('low', 'active', null) $$, :'low'),
  'no fact comes after the one that it was superseded by'
);
select results_eq(
  format($$ select content from memory.fact_history(%L) $$, :'low'), $$ values ('low'), ('high') $$,
  'the history of a fact that won against its successor is complete'
);
select throws_ok(
  format($$ update memory.facts set supersedes_id = %L where id = %L $$, :'high', :'low'), 'PM003',
  format('fact %s cannot supersede fact %s, which came after it', :'low', :'high'),
  'a chain of facts that leads back to itself is refused'
);
select throws_ok(
  format($$ update memory.facts set supersedes_id = %L where id = %1$L $$, :'low'), 'PM003', null,
  'a fact cannot supersede itself'
);
select facts_returned, facts_reactivated, facts_kept from memory.entity_unmerge(:'again', '2026-05-07Z') \gset
select results_eq(
  format('select f.content, f.validity, f.supersedes_id, f.entity_id from memory.facts as f where f.id in (%L, %L) order by 1', :'low', :'high'),
  format($$ values ('high', 'active', %L::uuid, %L::uuid), ('low', 'active', null, %L) $$, :'low', :'ada', :'again'),
  'the chain from before a merge is there again after it'
);

-- A fact that wins against the one that it had superseded

select memory.store_fact('Saul', 'runs', 'slowly', entity_id => :'again', confidence => 0.5, as_of => '2026-05-07Z') as slowly \gset
select memory.entity_merge(:'again', :'ada', '2026-05-07 01:00Z') \g /dev/null
select memory.store_fact('Ada', 'runs', 'fast', entity_id => :'ada', as_of => '2026-05-07 02:00Z') as fast \gset
select memory.entity_unmerge(:'again', '2026-05-07 03:00Z') \g /dev/null
select memory.restore_memory('fact', :'slowly', '2026-05-07 04:00Z') \g /dev/null
create view memory_test.runners as
select f.content, f.validity, f.supersedes_id, l.relation
from memory.facts as f
left join memory.memory_links as l on l.source_id = f.id
where f.predicate = 'runs';
select memory.entity_merge(:'again', :'ada', '2026-05-07 05:00Z') \g /dev/null
select set_eq(
  'select * from memory_test.runners',
  format($$ values ('slowly', 'superseded', null::uuid, null::text), ('fast', 'active', %L, 'supersedes') $$, :'slowly'),
  'a merge makes a fact lose against its successor'
);
select memory.entity_unmerge(:'again', '2026-05-07 06:00Z') \g /dev/null
select set_eq(
  'select * from memory_test.runners',
  format($$ values ('slowly', 'active', null::uuid, null::text), ('fast', 'active', %L, 'supersedes') $$, :'slowly'),
  'which it still has after an unmerge, linked as before'
);

-- The key to which a fact would return is taken

select memory.store_fact('Saul', 'paints', 'past', entity_id => :'again', as_of => '2026-05-08Z') as past \gset
select memory.store_fact('Saul', 'paints', 'loser', entity_id => :'again', confidence => 0.5, as_of => '2026-05-09Z') as loser \gset
select memory.store_fact('Ada', 'paints', 'winner', entity_id => :'ada', as_of => '2026-05-09Z') as winner \gset
select memory.entity_merge(:'again', :'ada', '2026-05-10Z') \g /dev/null
select memory.forget_memory('fact', :'winner', '2026-05-11Z') \g /dev/null
select memory.restore_memory('fact', :'past', '2026-05-12Z') \g /dev/null
select facts_returned, facts_reactivated, facts_kept from memory.entity_unmerge(:'again', '2026-05-13Z') \gset
select results_eq(
  format('select f.content, f.validity, f.entity_id from memory.facts as f where f.id in (%L, %L, %L) order by 1', :'past', :'loser', :'winner'),
  format($$ values ('loser', 'superseded', %1$L::uuid), ('past', 'active', %1$L), ('winner', 'retracted', %2$L) $$, :'again', :'ada'),
  'a superseded fact of the source stays so where another one of the source is active under its key'
);
select is(:'facts_kept'::bigint, 1::bigint, 'a fact whose key is taken counts as kept');
select is(
  (select l.relation from memory.memory_links as l where l.source_id = :'winner' and l.target_id = :'loser'), 'supersedes',
  'and stays linked to the one that superseded it'
);

select memory.store_fact('Saul', 'dances', 'often', entity_id => :'again', as_of => '2026-05-14Z') as often \gset
select memory.store_fact('Ada', 'dances', 'with Saul', entity_id => :'ada', object_entity_id => :'again', confidence => 0.5, as_of => '2026-05-14Z') as rarely \gset
select memory.entity_merge(:'again', :'ada', '2026-05-15Z') \g /dev/null
select memory.store_fact('Ada', 'dances', 'never', entity_id => :'ada', as_of => '2026-05-16Z') as never \gset
select memory.entity_unmerge(:'again', '2026-05-17Z') \g /dev/null
select results_eq(
  format('select f.content, f.validity, f.entity_id, f.object_entity_id from memory.facts as f where f.id in (%L, %L, %L) order by 1', :'often', :'rarely', :'never'),
  format(
    $$ values ('never', 'active', %2$L::uuid, null::uuid), ('often', 'superseded', %1$L, null),
         ('with Saul', 'superseded', %2$L, %1$L) $$, :'again', :'ada'
  ),
  'a superseded fact of the target that relates to the source stays so where its key is taken'
);

-- Bounds

select memory.entity_create('Many', 'other', aliases => array(select 'name ' || n from generate_series(1, 1000) as n)) as many \gset
select throws_ok(
  format('select memory.entity_merge(%L, %L)', :'many', :'bob'), 'PM002', null,
  'a merge that exceeds the names an entity may have is refused'
);
select is(
  (select lifecycle_state from memory.entity_get(:'many')), 'active',
  'a refused merge changes nothing'
);

-- Erasing

select memory.entity_merge(:'bob', :'robert', '2026-05-01Z') \g /dev/null
select memory.erase_subject('Robert', false) \g /dev/null
select is_empty(
  format('select * from memory.entities as e where e.id in (%L, %L)', :'bob', :'robert'),
  'erasing an entity erases those that were merged into it'
);
select is_empty(
  format('select * from memory.memory_history as h where h.memory_id in (%L, %L)', :'bob', :'robert'),
  'erasing an entity erases the history of those that were merged into it'
);
select is(
  (select f.object_entity_id from memory.facts as f where f.id = :'a_knows'), null,
  'facts about others no longer name an erased entity'
);

select memory.entity_create('Eve', 'person') as eve \gset
select memory.entity_create('Eva', 'person') as eva \gset
select memory.entity_create('Zebulon', 'person') as zebulon \gset
select memory.store_fact('Eve', 'knows', 'somebody', entity_id => :'eve', object_entity_id => :'zebulon') as e_knows \gset
select memory.entity_merge(:'eve', :'eva') \g /dev/null
select memory.erase_subject('Zebulon') \g /dev/null
select memory.entity_unmerge(:'eve') \g /dev/null
select results_eq(
  format('select f.entity_id, f.object_entity_id from memory.facts as f where f.id = %L', :'e_knows'),
  format('values (%L::uuid, null::uuid)', :'eve'),
  'a fact that returns names no entity that was erased after the merge'
);

select memory.entity_create('Ida', 'person') as ida \gset
select memory.entity_create('Ide', 'person') as ide \gset
select memory.store_fact('Ida', 'praises', 'herself', entity_id => :'ida', object_entity_id => :'ida') as praise \gset
select memory.store_fact('Ide', 'praises', 'others', entity_id => :'ide', confidence => 0.5) \g /dev/null
select memory.entity_merge(:'ide', :'ida') \g /dev/null
select is(
  (select f.object_entity_id from memory.facts as f where f.id = :'praise'), :'ida',
  'what relates the target to itself already still does'
);
select * from finish();
rollback;
