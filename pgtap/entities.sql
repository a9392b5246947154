begin;
\ir fixtures.sql
select plan(45);

-- Creating

select memory.entity_create('  Ada   Lovelace ', 'person', aliases => '{Ada,"Countess  of Lovelace",ADA}',
  metadata => '{"born": 1815}', as_of => '2026-01-01Z') as ada \gset
select results_eq(
  format('select id, canonical_name, entity_type, aliases, metadata, lifecycle_state, merged_into, active_facts, created_at, updated_at from memory.entity_get(%L)', :'ada'),
  format($$ values (%L::uuid, 'Ada Lovelace', 'person', '{Ada,"Countess of Lovelace"}'::text[], '{"born": 1815}'::jsonb, 'active', null::uuid, 0::bigint, '2026-01-01Z'::timestamptz, '2026-01-01Z'::timestamptz) $$, :'ada'),
  'an entity keeps its names with whitespace collapsed, and each alias once'
);
select is(memory_test.events_of(:'ada'), '{entity_created}', 'creating an entity writes an event');
select is_empty($$ select * from memory.entity_get(gen_random_uuid()) $$, 'an unknown entity has no row');
select throws_ok(
  $$ select memory.entity_create('Ada Lovelace', 'person') $$, 'PM004',
  format('person ''Ada Lovelace'' already exists: entity %s', :'ada'),
  'a second entity with the same name and type is refused'
);
select lives_ok(
  $$ select memory.entity_create('Ada Lovelace', 'place', 'a') $$,
  'an entity of another type may have the same name'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'robot') $$, 'PM002', 'unknown entity_type: ''robot''',
  'an unknown entity_type is refused'
);
select throws_ok(
  $$ select memory.entity_create('  ', 'person') $$, 'PM002', 'canonical_name is empty',
  'a blank name is refused'
);
select throws_ok(
  $$ select memory.entity_create(null, 'person') $$, 'PM002', 'canonical_name is empty',
  'a NULL name is refused'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person', aliases => '{Bobby," "}') $$, 'PM002', 'alias 2 is empty',
  'a blank alias is refused'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person', aliases => array_fill('x'::text, array[1001])) $$,
  'PM002', 'there are 1001 aliases of 2001 bytes in total', 'more than a thousand aliases are refused'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person', metadata => '{"merged_into": "x"}') $$,
  'PM002', 'metadata uses a reserved key', 'metadata cannot forge a merge'
);
select throws_ok(
  $$ select memory.entity_create('Bob', 'person', 'b') $$, 'PM005', null,
  'a tenant other than that of the request is refused'
);

-- Changing

select ok(
  memory.entity_update(:'ada', 'Ada King', '{Ada,"Ada Lovelace"}', '{"died": 1852, "born": null}', '2026-02-01Z'),
  'an entity can be updated'
);
select results_eq(
  format('select canonical_name, aliases, metadata, updated_at from memory.entity_get(%L)', :'ada'),
  $$ values ('Ada King', '{Ada,"Ada Lovelace"}'::text[], '{"died": 1852}'::jsonb, '2026-02-01Z'::timestamptz) $$,
  'an update replaces name and aliases, merges metadata, and removes a key that is null'
);
select is(
  memory_test.events_of(:'ada'), '{entity_created,entity_updated}',
  'updating an entity writes an event'
);
select ok(memory.entity_update(:'ada', aliases => '{}'), 'an entity can be updated in part');
select results_eq(
  format('select canonical_name, aliases, metadata from memory.entity_get(%L)', :'ada'),
  $$ values ('Ada King', '{}'::text[], '{"died": 1852}'::jsonb) $$,
  'an update of the aliases leaves name and metadata unchanged'
);
select ok(
  not memory.entity_update(gen_random_uuid(), 'Nobody'), 'updating an unknown entity returns false'
);
select memory.entity_create('Bob', 'person') as bob \gset
select throws_ok(
  format($$ select memory.entity_update(%L, 'Ada King') $$, :'bob'), 'PM004',
  format('person ''Ada King'' already exists: entity %s', :'ada'),
  'a name that another entity has is refused'
);
select throws_ok(
  format($$ select memory.entity_update(%L, 'Bobby', as_of => '2020-01-01Z') $$, :'bob'), 'PM002', null,
  'an update at a time before the entity was created is refused'
);
select throws_ok(
  format($$ select memory.entity_update(%L, metadata => jsonb_build_object('text', repeat('x', 66000))) $$, :'bob'),
  'PM002', null, 'metadata that is too large is refused'
);
select results_eq(
  format($$ select position, event_type, image ->> 'canonical_name', problem from memory.replay_memory('entity', %L) $$, :'ada'),
  $$ values
     (1::bigint, 'entity_created', 'Ada Lovelace', null::text), (2, null, 'Ada King', null), (3, null, 'Ada King', null) $$,
  'the earlier names of an entity are in its history'
);

-- Names

create function memory_test.names_of(entity_id uuid)
  returns text[]
  language sql
  begin atomic
    select array_agg(n.name || case when n.is_canonical then '!' else '' end order by n.name)
    from memory.entity_names as n
    where n.entity_id = names_of.entity_id;
  end;

create function memory_test.stored_names(entity_id uuid)
  returns text[]
  language sql
  return (select e.canonical_name::text || e.aliases from memory.entities as e where e.id = entity_id);

select memory.entity_create('Éva  Ångström', 'person', aliases => '{ÉVA ÅNGSTRÖM,Evi}') as eva \gset
select is(
  memory_test.names_of(:'eva'), '{"eva angstrom!",evi}',
  'names are kept in lower case and without accents, the canonical name once'
);
select memory.entity_update(:'eva', 'Eva') \g /dev/null
select is(
  memory_test.names_of(:'eva'), '{eva!,"eva angstrom",evi}',
  'the kept names follow updates of the entity'
);
select is(
  memory_test.stored_names(:'eva'), '{Eva,"ÉVA ÅNGSTRÖM",Evi}',
  'an entity is stored with its names as given'
);
select memory.entity_create('Zoë', 'person', aliases => '{Zoë Zürich,ZOE  ZURICH,Zoé}') as zoe \gset
select is(
  memory_test.stored_names(:'zoe'), '{Zoë,"Zoë Zürich",Zoé}',
  'aliases that differ only in accents or case are stored once'
);
select lives_ok(
  $$ select memory.entity_create(e.name, 'person') from unnest('{Zoe,ZOË}'::text[]) as e (name) $$,
  'entities may differ only in accents or case'
);
update memory.entities as e set metadata = jsonb_build_object('merged_into', :'bob') where e.id = :'eva';
select is(memory_test.names_of(:'eva'), null, 'a merged entity has no names');

-- Facts between two entities

select memory.entity_create('Analytical Engines', 'organization') as firm \gset
select memory.store_fact('Ada', 'works at', 'Analytical Engines', entity_id => :'ada', object_entity_id => :'firm') as job \gset
select results_eq(
  format($$ select f.entity_id, f.object_entity_id from memory.facts as f where f.id = %L $$, :'job'),
  format($$ values (%L::uuid, %L::uuid) $$, :'ada', :'firm'), 'a fact can relate two entities'
);
select is(
  (select active_facts from memory.entity_get(:'ada')), 1::bigint,
  'a fact counts as a fact about its subject'
);
select is(
  (select active_facts from memory.entity_get(:'firm')), 0::bigint,
  'a fact does not count as a fact about its object'
);
select throws_ok(
  $$ select memory.store_fact('Ada', 'knows', 'x', object_entity_id => '00000000-0000-0000-0000-0000000000aa') $$,
  'PM001', 'entity 00000000-0000-0000-0000-0000000000aa does not exist',
  'an object entity that does not exist is refused'
);
select throws_ok(
  format($$ select memory.store_fact('Ada', 'knows', 'Eva', object_entity_id => %L) $$, :'eva'), 'PM003', null,
  'an object entity that was merged away is refused'
);
select throws_ok(
  $$ select memory.store_facts('[
       {"subject": "x", "predicate": "y", "content": "z"},
       {"subject": "x", "predicate": "knows", "content": "z", "object_entity_id": "00000000-0000-0000-0000-0000000000aa"}
     ]') $$,
  'PM001', 'entity 00000000-0000-0000-0000-0000000000aa of fact 2 does not exist',
  'an object entity that does not exist is refused in a batch'
);
select lives_ok(
  format($$ select memory.store_facts(jsonb_build_array(jsonb_build_object(
    'subject', 'Bob', 'predicate', 'works at', 'content', 'Analytical Engines', 'entity_id', %L::text, 'object_entity_id', %L::text))) $$, :'bob', :'firm'),
  'a fact in a batch can relate two entities'
);
select throws_ok(
  format($$ delete from memory.entities as e where e.id = %L $$, :'firm'), 'PM006', null,
  'an entity cannot be deleted'
);

-- Neighbors

create function memory_test.around(name text, max_depth integer default 1, max_results integer default 50)
  returns table (canonical_name text, depth integer, via text, direction text, relation text, edges bigint)
  language sql
  begin atomic
    select n.canonical_name, n.depth, v.canonical_name, n.direction, n.relation, n.edges
    from memory.entities as e
    cross join memory.entity_neighbors(e.id, around.max_depth, around.max_results) as n
    join memory.entities as v on v.id = n.via_entity_id
    where e.canonical_name = around.name and e.entity_type <> 'place';
  end;

select results_eq(
  $$ select * from memory_test.around('Ada King') $$,
  $$ values ('Analytical Engines', 1, 'Ada King', 'outgoing', 'works at', 1::bigint) $$,
  'the object of a fact is a neighbor of its subject'
);
select results_eq(
  $$ select canonical_name, direction from memory_test.around('Analytical Engines') order by 1 $$,
  $$ values ('Ada King', 'incoming'), ('Bob', 'incoming') $$,
  'the subject of a fact is a neighbor of its object'
);
select results_eq(
  $$ select * from memory_test.around('Ada King', 2) $$,
  $$ values
     ('Analytical Engines', 1, 'Ada King', 'outgoing', 'works at', 1::bigint),
     ('Bob', 2, 'Analytical Engines', 'incoming', 'works at', 1) $$,
     'the neighbors of a neighbor are two steps away'
);
select memory.store_fact('Bob', 'knows', 'Ada', entity_id => :'bob', object_entity_id => :'ada') as knows \gset
select results_eq(
  $$ select canonical_name, depth from memory_test.around('Ada King', 5) order by 1 $$,
  $$ values ('Analytical Engines', 1), ('Bob', 1) $$,
  'an entity in a cycle is returned once, at its shortest distance'
);
select is(
  (select count(*) from memory_test.around('Ada King', 5, 1)), 1::bigint,
  'max_results limits the number of neighbors'
);
select memory.entity_create('Cafe', 'place') as cafe \gset
select memory.store_fact('Cafe', 'serves', 'engineers', entity_id => :'cafe') as serves \gset
select memory.create_link('fact', :'serves', 'fact', :'job', 'supports') \g /dev/null
select results_eq(
  $$ select canonical_name, direction, relation from memory_test.around('Ada King') where canonical_name = 'Cafe' $$,
  $$ values ('Cafe', 'incoming', 'supports') $$,
  'a link between two facts makes their entities neighbors'
);
select memory.forget_memory('fact', :'serves') \g /dev/null
select is_empty(
  $$ select * from memory_test.around('Ada King', 5) where canonical_name = 'Cafe' $$,
  'a forgotten fact makes no neighbors'
);
select is_empty(
  $$ select * from memory.entity_neighbors(gen_random_uuid(), 3) $$,
  'an unknown entity has no neighbors'
);
select throws_ok(
  format($$ select memory.entity_neighbors(%L, 6) $$, :'ada'), 'PM002', 'max_depth is 6',
  'a max_depth of more than five is refused'
);

select * from finish();
rollback;
