-- The form in which subjects and predicates are part of a fact's key.
begin;
\ir fixtures.sql
select plan(22);

create function memory_test.known()
  returns table (subject text, predicate text, content text)
  language sql
  as $$
    select f.subject, f.predicate, f.content from memory.facts as f
    where f.tenant_id = 'a' and f.validity = 'active'
    order by f.subject collate "C", f.predicate collate "C";
  $$;

-- One by one

select memory.store_fact('Ruth Abend', 'lives in', 'Bern', as_of => '2026-01-01Z') as bern \gset
select memory.store_fact('ruth  abend', 'Lives In', 'Basel', as_of => '2026-01-02Z') as basel \gset
select results_eq(
  'select * from memory_test.known()', $$ values ('ruth abend', 'Lives In', 'Basel') $$,
  'a fact supersedes one whose subject and predicate differ only in case and blanks, and keeps its own spelling'
);
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'basel'), :'bern'::uuid,
  'a fact in another spelling names what it superseded'
);
select set_eq(
  format($$ select h.id from memory.fact_history(%L) as h $$, :'basel'),
  format($$ values (%L::uuid), (%L) $$, :'bern', :'basel'),
  'the history of a fact has all spellings of its key'
);
select is(
  memory.store_fact('RUTH ABEND', 'lives in', 'Basel', as_of => '2026-01-03Z'), :'basel'::uuid,
  'the same words under another spelling of the key confirm the fact'
);
select is(
  memory.store_fact('Ruth Abend', '_lives__in', 'Basel', as_of => '2026-01-03Z'), :'basel'::uuid,
  'an underscore of a predicate is a space in its key'
);
select results_eq(
  $$ select l.content from memory.list_memories(predicate => 'LIVES_IN') as l $$,
  $$ select m.content from memory.list_memories(predicate => 'lives in') as m $$,
  'a list of a predicate has its facts in all spellings'
);
select memory.store_fact(U&'Caf\00E9 M\00FCller', 'opens', '8', as_of => '2026-01-01Z') as eight \gset
select memory.store_fact(U&'cafe\0301 mu\0308ller', 'opens', '9', as_of => '2026-01-02Z') as nine \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'nine'), :'eight'::uuid,
  'how accents are composed does not matter in a key'
);
select memory.store_fact(
  U&'\FF23\FF21\FF26\00C9\3000m\00FCller', U&'\FF4Fpens', '10', as_of => '2026-01-03Z'
) as ten \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'ten'), :'nine'::uuid,
  'the width of letters does not matter in a key'
);
select is(
  (select count(*) from memory_test.known() as k where k.content in ('8', '9', '10')), 1::bigint,
  'only one fact of these is active'
);
select isnt(
  memory.spelling_key('Cafe'), memory.spelling_key(U&'Caf\00E9'), 'accents do matter in a key'
);
select memory.store_fact('Ruth Abend', 'lives in', 'Thun', as_of => '2026-01-02 12:00Z', valid_from => '2025-01-01Z') as thun \gset
select results_eq(
  format($$ select f.validity, f.valid_to from memory.facts as f where f.id = %L $$, :'thun'),
  $$ values ('superseded', '2026-01-01Z'::timestamptz) $$,
  'a fact of an earlier time is history until the next one of its key began, however that is spelled'
);
select lives_ok(
  format($$ select memory.store_fact(%L, %L, 'x') $$, repeat(U&'\FDFA', 170), repeat(U&'\FDFA', 170)),
  'a subject that grows eighteenfold when it is normalized is stored'
);
select is(
  memory.store_fact(repeat(U&'\FDFA', 170), repeat(U&'\FDFA', 170), 'x'),
  (select f.id from memory.facts as f where f.subject = repeat(U&'\FDFA', 170)),
  'such a fact is found again by its key'
);

-- In a batch

select results_eq(
  $$ select s.ordinal, s.created, s.superseded_id is not null
     from memory.store_facts('[
       {"subject": "Tom", "predicate": "owns", "content": "a cat"},
       {"subject": "TOM", "predicate": "Owns", "content": "a dog"},
       {"subject": "tom ", "predicate": "_owns", "content": "a dog"},
       {"subject": "RUTH ABEND", "predicate": "LIVES IN", "content": "Chur"}
     ]', as_of => '2026-01-04Z') as s $$,
  $$ values (1::bigint, true, false), (2, true, true), (3, false, false), (4, true, true) $$,
  'spellings of one key supersede and confirm each other in a batch'
);
select results_eq(
  $$ select k.content from memory_test.known() as k where lower(k.subject) = 'tom' $$,
  $$ values ('a dog') $$, 'one fact of a batch stays active under a key'
);

-- Facts about an entity

select memory.entity_create('Ada', 'person') as ada \gset
select memory.entity_create('Ada L.', 'person') as other \gset
select memory.store_fact('Ada', 'works at', 'the mill', entity_id => :'ada', as_of => '2026-01-01Z') as mill \gset
select memory.store_fact(
  'She', 'Works_At', 'the school', entity_id => :'ada', confidence => 0.9, as_of => '2026-01-02Z'
) as school \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'school'),
  :'mill'::uuid, 'predicates about an entity that differ in case, blanks and underscores are one key'
);
select memory.store_fact('Ada L.', 'WORKS AT', 'the office', entity_id => :'other', as_of => '2026-01-03Z') as office \gset
select is(
  (select m.facts_superseded from memory.entity_merge(:'other', :'ada') as m), 1::bigint,
  'a merge of entities compares predicates without case'
);
select is(
  (select f.validity from memory.facts as f where f.id = :'office'), 'active',
  'of two spellings of a predicate, the surer fact survives the merge'
);

-- Restoring and forgetting

select throws_ok(
  format($$ select memory.restore_memory('fact', %L) $$, :'bern'), 'PM003', null,
  'a fact is not restored while another spelling of its key is active'
);
select is(
  (select count(*) from memory.near_duplicates('a', null)), 0::bigint,
  'spellings of one key are no near duplicates'
);
select memory.store_fact('tom', 'o_wns', 'a bird') as bird \gset
select is(
  (select count(*) from memory.near_duplicates('a', null) as d where d.newest_id = :'bird'), 1::bigint,
  'words written apart or together are near duplicates, not one key'
);
select memory.store_fact('ruth_abend', 'lives_in', 'Brig', as_of => '2026-01-03Z') as brig \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'brig'), null,
  'an underscore of a subject is none: names of files and accounts differ by it'
);

select * from finish();
rollback;
