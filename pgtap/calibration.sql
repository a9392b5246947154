begin;
\ir fixtures.sql
select plan(20);

select throws_ok(
  $$ select * from memory.calibrate_similarity() $$, 'PM004', 'no embedding model is registered',
  'calibration is refused without an embedding model'
);
select memory.register_embedding_version('model', '1') as version_id \gset
select results_eq(
  $$ select v.similarity_floor, v.similarity_ceiling from memory.embedding_versions as v where v.tenant_id = 'a' $$,
  $$ values (0.05::float8, 0.75::float8) $$,
  'a model has the scale of all-MiniLM-L6-v2 until one is given or measured'
);
select throws_ok(
  $$ select memory.start_reembedding('next', '1', similarity_floor => 0.7, similarity_ceiling => 0.7) $$,
  'PM002', 'a similarity scale from 0.7 to 0.7 is invalid', 'a scale whose ends are equal is refused'
);
select throws_ok(
  $$ select memory.start_reembedding('next', '1', similarity_floor => 0.9) $$,
  'PM002', 'a similarity scale from 0.9 to 0.75 is invalid', 'an omitted end of a scale has its default'
);
select throws_ok(
  $$ select memory.start_reembedding('next', '1', similarity_floor => -2) $$,
  'PM002', null, 'a similarity below -1 is refused'
);
select memory.start_reembedding('next', '1', similarity_floor => 0.7, similarity_ceiling => 0.9) as next_id \gset
select results_eq(
  format($$ select v.similarity_floor, v.similarity_ceiling from memory.embedding_versions as v where v.id = %L $$, :'next_id'),
  $$ values (0.7::float8, 0.9::float8) $$,
  'a model keeps the scale it is given'
);
select memory.cancel_reembedding() \g /dev/null

-- A vector along an axis of its own, tilted toward axis 2: with a share of 0.5, each pair has a
-- similarity of 0.5 * 0.5.
create function memory_test.tilted(number integer, share float8)
  returns vector
  language sql
  immutable
  return (
    select array_agg(
      case i when 2 then share when number + 10 then sqrt(1 - share * share) else 0 end order by i
    )::vector
    from generate_series(1, 384) as i
  );
select throws_ok(
  $$ select * from memory.calibrate_similarity() $$, 'PM004', 'only 0 memories have a vector',
  'calibration is refused without vectors'
);
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select 'a', 'fact ' || n, 'says', 'something', memory_test.tilted(n, 0.5), :'version_id'
from generate_series(1, 9) as n;
select throws_ok(
  $$ select * from memory.calibrate_similarity() $$, 'PM004', 'only 9 memories have a vector',
  'calibration is refused with nine vectors'
);
insert into memory.rules (tenant_id, content, embedding, embedding_version_id)
values ('a', 'a rule', memory_test.tilted(10, 0.5), :'version_id');
insert into memory.episodes (tenant_id, butler, content, embedding, embedding_version_id)
select 'a', 'home', 'talk ' || n, memory_test.tilted(n, 0.9), :'version_id'
from generate_series(1, 20) as n;
select results_eq(
  $$ select round(c.similarity_floor::numeric, 6), round(c.similarity_ceiling::numeric, 6), c.pairs
     from memory.calibrate_similarity() as c $$,
  $$ values (0.25, round(0.25 + 0.74 * 0.75, 6), 45::bigint) $$,
  'the floor is the similarity of unrelated facts and rules, however many episodes there are'
);
select is(
  (
    select round(v.similarity_floor::numeric, 6)
    from memory.embedding_versions as v
    where v.id = :'version_id'
  ),
  0.25, 'the measured scale is stored with the model'
);
select is(
  (select round(m.meaning::numeric, 4) from memory.search('nothing of it', '{rule}', embedding => memory_test.tilted(10, 0.5)) as m),
  1.0000, 'a memory with the vector of the query has full meaning on the measured scale'
);
select is_empty(
  $$ select * from memory.search('nothing of it', '{rule}', embedding => memory_test.tilted(11, 0.5)) $$,
  'a memory as near as any other has no meaning on the measured scale'
);
select memory.forget_memory('fact', f.id) from memory.facts as f where f.tenant_id = 'a' \g /dev/null
select is(
  (select round(c.similarity_floor::numeric, 2) from memory.calibrate_similarity() as c), 0.45,
  'calibration measures episodes if there are too few facts and rules'
);
select throws_ok(
  $$ select * from memory.calibrate_similarity(9) $$, 'PM002', null,
  'a sample of fewer than ten memories is refused'
);
select memory_test.as_tenant('b');
select throws_ok(
  $$ select * from memory.calibrate_similarity() $$, 'PM004', 'no embedding model is registered',
  'calibration is refused for another tenant without a model'
);

-- The model that is being changed to

select throws_ok(
  $$ select * from memory.calibrate_similarity(target => 'building') $$, 'PM004',
  'no embedding model is being changed to', 'there is nothing to measure while the model is not changed'
);
select throws_ok(
  $$ select * from memory.calibrate_similarity(target => 'retired') $$, 'PM002', null, 'a retired model is not measured'
);
select memory_test.as_tenant('c') \g /dev/null
select memory.register_embedding_version('model', '1') as version_id \gset
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select 'c', 'fact ' || n, 'says', 'something', memory_test.tilted(n, 0.5), :'version_id'
from generate_series(1, 10) as n;
select memory.start_reembedding('next', '1') as next_id \gset
insert into memory.staged_embeddings (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
select 'c', 'fact', f.id, :'next_id', memory_test.tilted(row_number() over (order by f.id)::integer, 0.8)
from memory.facts as f where f.tenant_id = 'c';
select results_eq(
  $$ select round(c.similarity_floor::numeric, 6), c.pairs from memory.calibrate_similarity(target => 'building') as c $$,
  $$ values (0.64, 45::bigint) $$,
  'the vectors that wait for the switch are measured'
);
select is(
  (select v.similarity_floor from memory.active_embedding_version() as v), 0.05::float8,
  'the scale of the active model stays'
);
select memory.activate_embedding_version() \g /dev/null
select is(
  (select round(v.similarity_floor::numeric, 6) from memory.active_embedding_version() as v), 0.64,
  'the new model is switched to with its own scale'
);

select * from finish();
rollback;
