begin;
\ir fixtures.sql
select plan(36);

select is_empty($$ select * from memory.list_entities() $$, 'without entities none are listed');
select is_empty($$ select * from memory.merge_suggestions() $$, 'nor suggested');

insert into memory.entities (id, tenant_id, canonical_name, entity_type, aliases, created_at, updated_at)
values
('e0000000-0000-0000-0000-000000000001', 'a', 'Ada Lovelace', 'person', '{Countess}', '2026-01-01Z', '2026-01-01Z'),
('e0000000-0000-0000-0000-000000000002', 'a', 'Babbage', 'person', '{}', '2026-01-02Z', '2026-01-02Z'),
('e0000000-0000-0000-0000-000000000003', 'a', 'Berlin', 'place', '{}', '2026-01-03Z', '2026-01-03Z'),
('e0000000-0000-0000-0000-000000000004', 'a', 'Zoë', 'person', '{}', '2026-01-04Z', '2026-01-04Z'),
('e0000000-0000-0000-0000-000000000005', 'a', 'Charles Babbage', 'person', '{}', '2026-01-05Z', '2026-01-05Z'),
('e0000000-0000-0000-0000-000000000006', 'b', 'Ada Lovelace', 'person', '{}', '2026-01-01Z', '2026-01-01Z'),
('e0000000-0000-0000-0000-000000000007', 'a', 'Babbage', 'organization', '{}', '2026-01-05Z', '2026-01-05Z');
select memory_test.as_tenant('a') \g /dev/null
select memory.store_fact('Babbage', 'born in', 'London', entity_id => 'e0000000-0000-0000-0000-000000000002', confidence => 0.6, as_of => '2026-01-06Z') as born \gset
select memory.store_fact('Babbage', 'likes', 'numbers', entity_id => 'e0000000-0000-0000-0000-000000000002', as_of => '2026-01-06Z') as likes \gset
select memory.store_fact('Babbage', 'likes', 'engines', entity_id => 'e0000000-0000-0000-0000-000000000002', as_of => '2026-01-07Z') as engines \gset
select memory.store_fact('Charles', 'born in', 'Walworth', entity_id => 'e0000000-0000-0000-0000-000000000005', as_of => '2026-01-06Z') as walworth \gset
select memory.store_fact('Ada', 'knows', 'Babbage', entity_id => 'e0000000-0000-0000-0000-000000000001', object_entity_id => 'e0000000-0000-0000-0000-000000000002', as_of => '2026-01-06Z') as knows \gset

create function memory_test.named(arguments text) returns text[] language plpgsql as $$
declare v_names text[];
begin
  execute format('select array_agg(l.canonical_name || left(l.entity_type, 1) order by l.ordinality) from memory.list_entities(%s) with ordinality as l', arguments) into v_names;
  return v_names;
end;
$$;

-- list_entities

select is(memory_test.named(c.arguments), c.wanted::text[], c.what)
from (values
  (1, '', '{"Ada Lovelacep",Babbagep,Babbageo,Berlinp,"Charles Babbagep",Zoëp}', 'all are listed by name'),
  (2, $$'babb'$$, '{Babbagep,Babbageo,"Charles Babbagep"}', 'those of which a name contains a text'),
  (3, $$'countess'$$, '{"Ada Lovelacep"}', 'an alias too'),
  (4, $$'ZOE'$$, '{Zoëp}', 'whatever its case and accents'),
  (5, $$'ba', types => '{organization}'$$, '{Babbageo}', 'of a type'),
  (6, $$types => '{place,organization}'$$, '{Babbageo,Berlinp}', 'or of several'),
  (7, $$'100%'$$, null, 'a percent sign stands for itself'),
  (8, $$states => '{merged}'$$, null, 'none is merged yet')
) as c (position, arguments, wanted, what)
order by c.position;
select results_eq(
  $$ select l.entity_id, l.canonical_name, l.entity_type, l.state, l.aliases, l.merged_into, l.facts, l.mentions, l.created_at, l.updated_at
     from memory.list_entities('Babbage', '{person}') as l $$,
  $$ values
     ('e0000000-0000-0000-0000-000000000002'::uuid, 'Babbage', 'person', 'active', '{}'::text[], null::uuid, 2, 1, '2026-01-02Z'::timestamptz, '2026-01-02Z'::timestamptz),
     ('e0000000-0000-0000-0000-000000000005', 'Charles Babbage', 'person', 'active', '{}', null, 1, 0, '2026-01-05Z', '2026-01-05Z') $$,
  'with how many active facts are about it and mention it'
);
select is(
  (
    with recursive pages as (
      select p.* from (select l.entity_id, l.cursor from memory.list_entities(max_results => 1) as l) as p
      union all
      select n.entity_id, n.cursor from pages as p cross join lateral memory.list_entities(after => p.cursor, max_results => 1) as n
    )
    select array_agg(p.entity_id) from pages as p
  ),
  (select array_agg(l.entity_id) from memory.list_entities() as l), 'pages make up the list'
);
select throws_ok(format('select memory.list_entities(%s)', c.arguments), 'PM002', null, format('%s is refused', c.arguments))
from unnest(array[$$types => '{animal}'$$, $$states => '{}'$$, $$query => ' '$$, $$after => 'x'$$, 'max_results => 0']) with ordinality as c (arguments, position)
order by c.position;

-- merge_suggestions

select results_eq(
  $$ select s.source_name, s.source_facts, s.target_name, s.target_facts, s.entity_type, s.reason from memory.merge_suggestions() as s $$,
  $$ values ('Charles Babbage', 1, 'Babbage', 2, 'person', 'part of a name') $$,
  'entities of one type are suggested, into the one with more facts'
);
insert into memory.entities (id, tenant_id, canonical_name, entity_type, aliases)
values
('e0000000-0000-0000-0000-000000000008', 'a', 'ada lovelace', 'person', '{}'),
('e0000000-0000-0000-0000-000000000009', 'a', 'The Countess', 'person', '{"countess"}'),
('e0000000-0000-0000-0000-000000000010', 'a', 'Katharina Schmidt', 'person', '{}'),
('e0000000-0000-0000-0000-000000000011', 'a', 'Katarina Schmidt', 'person', '{}'),
('e0000000-0000-0000-0000-000000000012', 'a', 'Bernd Schmidt', 'person', '{}');
select results_eq(
  $$ select array(select n from unnest(array[s.source_name, s.target_name]) as n order by n collate "C")::text, s.reason
     from memory.merge_suggestions() as s where s.reason <> 'part of a name' order by 1 $$,
  $$ values ('{"Ada Lovelace","The Countess"}', 'alias'), ('{"Ada Lovelace","ada lovelace"}', 'same name'), ('{"Katarina Schmidt","Katharina Schmidt"}', 'similar name') $$,
  'by equal names, aliases and similar names'
) where exists (select from pg_extension where extname = 'pg_trgm');
select skip('pg_trgm is not installed', 1) where not exists (select from pg_extension where extname = 'pg_trgm');
select is(
  (select array_agg(s.similarity) from memory.merge_suggestions() as s),
  (select array_agg(s.similarity order by s.similarity desc) from memory.merge_suggestions() as s), 'the most alike come first'
);
select ok((select bool_and(s.similarity between 0.6 and 1) from memory.merge_suggestions() as s), 'and are alike');
select is(
  (
    with recursive pages as (
      select p.* from (select s.source_name, s.target_name, s.cursor from memory.merge_suggestions(max_results => 1) as s) as p
      union all
      select n.source_name, n.target_name, n.cursor from pages as p cross join lateral memory.merge_suggestions(p.cursor, 1) as n
    )
    select array_agg(p.source_name || p.target_name) from pages as p
  ),
  (select array_agg(s.source_name || s.target_name) from memory.merge_suggestions() as s), 'pages make up the suggestions'
);
select throws_ok($$ select memory.merge_suggestions(after => 'x') $$, 'PM002', null, 'what is no cursor is refused');

-- merge_preview: what the merge then does

create temp table previewed as
select p.* from memory.merge_preview('e0000000-0000-0000-0000-000000000002', 'e0000000-0000-0000-0000-000000000005') as p;
select results_eq(
  $$ select p.change, p.fact_id, p.content, p.winner_id, p.winner_content from previewed as p $$,
  format(
    $$ values
       ('alias', null::uuid, 'Babbage', null::uuid, null),
       ('superseded', %L::uuid, 'London', %L::uuid, 'Walworth'),
       ('moved', %L, 'engines', null, null),
       ('object', %L, 'Babbage', null, null),
       ('historical', %L, 'numbers', null, null) $$,
    :'born', :'walworth', :'engines', :'knows', :'likes'
  ),
  'a preview says which name is added and what becomes of each fact'
);
select is((select f.lifecycle_state from memory.facts as f where f.id = :'born'), 'active', 'it changes nothing');
select results_eq(
  $$ select m.facts_repointed, m.facts_superseded, m.historical_facts_moved, m.mentions_repointed
     from memory.entity_merge('e0000000-0000-0000-0000-000000000002', 'e0000000-0000-0000-0000-000000000005', '2026-01-08Z') as m $$,
  $$ select
       count(*) filter (where p.change = 'moved'), count(*) filter (where p.change = 'superseded'),
       count(*) filter (where p.change = 'historical'), count(*) filter (where p.change = 'object')
     from previewed as p $$,
  'the merge does what was previewed'
);
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'walworth'), :'born', 'with the winner that was previewed'
);
select is(
  (select e.aliases from memory.entities as e where e.id = 'e0000000-0000-0000-0000-000000000005'), '{Babbage}', 'and the name'
);
select results_eq(
  $$ select l.canonical_name, l.state, l.merged_into from memory.list_entities('babb', '{person}', '{active,merged}') as l $$,
  $$ values
     ('Babbage', 'merged', 'e0000000-0000-0000-0000-000000000005'::uuid), ('Charles Babbage', 'active', null) $$,
  'an entity that was merged away is listed on request'
);
select throws_ok(format('select memory.merge_preview(%L, %L)', c.source, c.target), c.code, null, format('%s is refused', c.what))
from (values
  (1, 'an unknown entity', 'e0000000-0000-0000-0000-0000000000ff', 'e0000000-0000-0000-0000-000000000005', 'PM001'),
  (2, 'an entity of another tenant', 'e0000000-0000-0000-0000-000000000005', 'e0000000-0000-0000-0000-000000000006', 'PM001'),
  (3, 'no entity', null, 'e0000000-0000-0000-0000-000000000005', 'PM001'),
  (4, 'the same entity twice', 'e0000000-0000-0000-0000-000000000005', 'e0000000-0000-0000-0000-000000000005', 'PM002'),
  (5, 'an entity that was merged away', 'e0000000-0000-0000-0000-000000000002', 'e0000000-0000-0000-0000-000000000001', 'PM004')
) as c (position, what, source, target, code)
order by c.position;

-- Another tenant

select memory_test.as_tenant('b') \g /dev/null
select is(memory_test.named(''), '{"Ada Lovelacep"}', 'another tenant has its own entities');
select is_empty($$ select * from memory.merge_suggestions() $$, 'of which none are alike');

select * from finish();
rollback;
