begin;
\ir fixtures.sql
select plan(52);

create view memory_test.vector_indexes as
select
  i.indexrelid::regclass::text as name, i.indrelid::regclass::text as table_name,
  m.amname::text collate "default" as method, c.reloptions::text collate "default" as options,
  o.opcname::text collate "default" as class,
  pg_get_indexdef(i.indexrelid, 1, true) as expression,
  pg_get_expr(i.indpred, i.indrelid) collate "default" as predicate,
  i.indisvalid and i.indisready as valid
from pg_index as i
join pg_class as c on c.oid = i.indexrelid
join pg_am as m on m.oid = c.relam
join pg_opclass as o on o.oid = i.indclass[0]
where c.relnamespace = 'memory'::regnamespace and m.amname in ('ivfflat', 'hnsw');

-- Each method

select is_empty($$ select * from memory_test.vector_indexes $$, 'a new schema has no approximate index');
select is(
  memory.rebuild_vector_indexes('ivfflat'), 'ivfflat', 'IVFFlat indexes can be built without any vector'
);
select results_eq(
  $$ select * from memory_test.vector_indexes order by 1 $$,
  $$ values
     ('memory.entries_embedding_idx', 'memory.entries', 'ivfflat', '{lists=20}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', '(lifecycle_state = ''active''::text)', true),
     ('memory.episodes_embedding_idx', 'memory.episodes', 'ivfflat', '{lists=20}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', null, true),
     ('memory.facts_embedding_idx', 'memory.facts', 'ivfflat', '{lists=20}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', '(validity = ''active''::text)', true),
     ('memory.rules_embedding_idx', 'memory.rules', 'ivfflat', '{lists=20}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', '(lifecycle_state <> ''retracted''::text)', true) $$,
  'ivfflat builds four valid cosine indexes of 20 lists over searchable memories'
);
select is(
  memory.rebuild_vector_indexes('exact'), 'exact',
  'rebuilding with the method exact returns exact'
);
select is_empty(
  $$ select * from memory_test.vector_indexes $$,
  'the method exact drops every approximate index'
);
select is(memory.rebuild_vector_indexes('hnsw'), 'hnsw', 'HNSW indexes can be built without any vector');
select results_eq(
  $$ select * from memory_test.vector_indexes order by 1 $$,
  $$ values
     ('memory.entries_embedding_idx', 'memory.entries', 'hnsw', '{m=16,ef_construction=100}',
       'halfvec_cosine_ops', '(l2_normalize(embedding)::halfvec(384))', '(lifecycle_state = ''active''::text)', true),
     ('memory.episodes_embedding_idx', 'memory.episodes', 'hnsw', '{m=16,ef_construction=100}',
       'halfvec_cosine_ops', '(l2_normalize(embedding)::halfvec(384))', null, true),
     ('memory.facts_embedding_idx', 'memory.facts', 'hnsw', '{m=16,ef_construction=100}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', '(validity = ''active''::text)', true),
     ('memory.rules_embedding_idx', 'memory.rules', 'hnsw', '{m=16,ef_construction=100}', 'halfvec_cosine_ops',
       '(l2_normalize(embedding)::halfvec(384))', '(lifecycle_state <> ''retracted''::text)', true) $$,
  'hnsw builds four valid cosine indexes over searchable memories'
);
select memory.rebuild_vector_indexes('ivfflat');
select results_eq(
  $$ select method, count(*) from memory_test.vector_indexes group by 1 $$,
  $$ values ('ivfflat', 4::bigint) $$,
  'a rebuild replaces the indexes of another method'
);
select memory.rebuild_vector_indexes('ivfflat');
select results_eq(
  $$ select method, count(*) from memory_test.vector_indexes group by 1 $$,
  $$ values ('ivfflat', 4::bigint) $$,
  'a rebuild replaces the indexes of the same method'
);
select is(
  (
    select count(*) from pg_index as i
    where i.indexrelid::regclass::text in (
      'memory.entries_vectors_idx', 'memory.episodes_vectors_idx', 'memory.facts_vectors_idx',
      'memory.rules_vectors_idx'
    )
    and i.indisvalid
  ),
  4::bigint, 'a rebuild keeps the indexes of exact search'
);

-- The number of lists of an IVFFlat index

select is(memory.choose_lists(v.vectors), v.lists, format('%s vectors are split into %s lists', v.vectors, v.lists))
from (values
  (0::bigint, 20), (20999, 20), (21000, 21), (50000, 50), (1000000, 1000), (1002000, 1001), (4000000, 2000)
) as v (vectors, lists)
order by v.vectors;
select memory.rebuild_vector_indexes('ivfflat', lists => 7) \g /dev/null
select results_eq(
  $$ select options, count(*) from memory_test.vector_indexes group by 1 $$,
  $$ values ('{lists=7}', 4::bigint) $$,
  'an IVFFlat index has as many lists as requested'
);
create or replace function memory.count_vectors(memory_type text)
  returns bigint
  language sql
  return case memory_type when 'episode' then 30000 when 'fact' then 40000 when 'entry' then 25000 else 3 end;
select memory.rebuild_vector_indexes('ivfflat') \g /dev/null
select results_eq(
  $$ select options from memory_test.vector_indexes order by name $$,
  $$ values ('{lists=25}'), ('{lists=30}'), ('{lists=40}'), ('{lists=20}') $$,
  'each memory type has lists for its own number of vectors'
);

-- Statements to run by hand

select results_eq(
  $$ select * from memory.vector_index_statements('ivfflat', 20) $$,
  $$ values
     ('drop index concurrently if exists memory.entries_embedding_idx'),
     ('drop index concurrently if exists memory.episodes_embedding_idx'),
     ('drop index concurrently if exists memory.facts_embedding_idx'),
     ('drop index concurrently if exists memory.rules_embedding_idx'),
     ('create index concurrently entries_embedding_idx on memory.entries '
       || 'using ivfflat ((public.l2_normalize(embedding)::public.halfvec(384)) '
       || 'public.halfvec_cosine_ops) with (lists = 20) '
       || 'where lifecycle_state = ''active'''),
     ('create index concurrently episodes_embedding_idx on memory.episodes '
       || 'using ivfflat ((public.l2_normalize(embedding)::public.halfvec(384)) '
       || 'public.halfvec_cosine_ops) with (lists = 20)'),
     ('create index concurrently facts_embedding_idx on memory.facts '
       || 'using ivfflat ((public.l2_normalize(embedding)::public.halfvec(384)) '
       || 'public.halfvec_cosine_ops) with (lists = 20) '
       || 'where validity = ''active'''),
     ('create index concurrently rules_embedding_idx on memory.rules '
       || 'using ivfflat ((public.l2_normalize(embedding)::public.halfvec(384)) '
       || 'public.halfvec_cosine_ops) with (lists = 20) '
       || 'where lifecycle_state <> ''retracted''') $$,
  'vector_index_statements returns the statements of a method one by one'
);
select is(
  (select count(*) from memory.vector_index_statements('exact')), 4::bigint,
  'the statements of the method exact only drop indexes'
);

-- With vectors

select memory.rebuild_vector_indexes('exact');
select memory.register_embedding_version('model', '1') as version_id \gset
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select 'a', 's', n::text, 'x', memory_test.near(n / 50.0), :'version_id' from generate_series(1, 45) as n;
insert into memory.facts (tenant_id, subject, predicate, content) values ('a', 's', 'none', 'x');
insert into memory.facts
  (tenant_id, subject, predicate, content, validity, embedding, embedding_version_id)
values ('a', 's', 'gone', 'x', 'retracted', memory_test.axis(1), :'version_id');
insert into memory.rules (tenant_id, content, embedding, embedding_version_id)
select 'a', 'x', memory_test.near(n / 50.0), :'version_id' from generate_series(1, 5) as n;
insert into memory.rules (tenant_id, content, metadata, embedding, embedding_version_id)
values ('a', 'x', '{"forgotten": true}', memory_test.axis(1), :'version_id');
insert into memory.episodes (tenant_id, butler, content, embedding, embedding_version_id)
select 'a', 'home', 'x', memory_test.near(n / 50.0), :'version_id' from generate_series(1, 6) as n;
select is(
  memory.rebuild_vector_indexes(m.method), m.method, format('%s indexes can be built with vectors', m.method)
)
from unnest('{ivfflat,hnsw}'::text[]) with ordinality as m (method, position)
order by m.position;
select lives_ok(
  $$ select memory.store_rule('y', embedding => memory_test.near(0.123)) $$,
  'memories can be stored with an approximate index'
);
select is(
  (select m.content from memory.semantic_search('rule', memory_test.near(0.123), max_results => 1) as m), 'y',
  'memories stored with an approximate index are found'
);
select memory.store_rule(
  'of length ' || l.length,
  embedding => (
    select array_agg(e.element * l.length)::vector
    from unnest(memory_test.near(0.456)::real[]) as e (element)
  )
)
from unnest('{9e5,2e-6}'::float8[]) as l (length) \g /dev/null
select set_eq(
  $$ select r.content
     from memory.approximate_neighbors('rule', memory_test.near(0.456), null, 2, 0, now()) as n
     join memory.rules as r on r.tenant_id = 'a' and r.id = n.id $$,
  array['of length 900000', 'of length 2e-06'],
  'vectors of any length that can be stored are found by an approximate index'
);

-- auto

select is(
  memory.largest_tenant_size(), 45::bigint,
  'the size of a tenant is its largest number of searchable vectors of a type'
);
insert into memory.embedding_versions (tenant_id, id, model, version, status)
values ('b', '00000000-0000-0000-0000-0000000000b1', 'model', '1', 'active');
insert into memory.episodes (tenant_id, butler, content, embedding, embedding_version_id)
select 'b', 'home', 'x', memory_test.near(n / 100.0), '00000000-0000-0000-0000-0000000000b1'
from generate_series(1, 60) as n;
select is(memory.largest_tenant_size(), 60::bigint, 'the size of the largest tenant counts');
select is(
  memory.rebuild_vector_indexes(), 'exact', 'the default method is exact for small tenants'
);
select is_empty(
  $$ select * from memory_test.vector_indexes $$,
  'the default method drops the indexes of small tenants'
);
create or replace function memory.largest_tenant_size()
  returns bigint
  language sql
  return current_setting('memory_test.size')::bigint;
set local memory_test.size = 10000;
select is(memory.rebuild_vector_indexes('auto'), 'exact', 'ten thousand vectors are compared exactly');
set local memory_test.size = 10001;
select is(memory.rebuild_vector_indexes('auto'), 'hnsw', 'more than ten thousand get an HNSW index');
select results_eq(
  $$ select method, count(*) from memory_test.vector_indexes where valid group by 1 $$,
  $$ values ('hnsw', 4::bigint) $$,
  'the HNSW indexes of the method auto are built'
);
select memory.configure('{"exact_scan_limit": 0}') \g /dev/null
set local memory_test.size = 10000;
select is(
  memory.rebuild_vector_indexes('auto'), 'exact',
  'the setting of one tenant does not determine the method for the shared indexes'
);

-- Refused arguments

select throws_ok(
  format('select memory.rebuild_vector_indexes(%L)', m.method), 'PM002',
  format('unknown method: %s', quote_nullable(m.method)),
  format('the method %s is refused', quote_nullable(m.method))
)
from unnest('{bogus,HNSW,null}'::text[]) with ordinality as m (method, position)
order by m.position;
select throws_ok(
  format('select memory.rebuild_vector_indexes(%s)', c.arguments), 'PM002', c.message,
  format('rebuild_vector_indexes(%s) is refused', c.arguments)
)
from (values
  (1, '''ivfflat'', 0', 'lists is 0'),
  (2, '''ivfflat'', 32769', 'lists is 32769'),
  (3, '''hnsw'', 20', 'method hnsw has no lists'),
  (4, '''exact'', 20', 'method exact has no lists'),
  (5, 'lists => 20', 'method exact has no lists')
) as c (position, arguments, message)
order by c.position;
select throws_ok(
  $$ select * from memory.vector_index_statements('auto') $$, 'PM002', 'unknown method: ''auto''',
  'the method auto has no statements'
);
select memory.rebuild_vector_indexes('hnsw');
select throws_ok(
  $$ select memory.rebuild_vector_indexes('bogus') $$, 'PM002', null,
  'an unknown method is refused'
);
select is(
  (select count(*) from memory_test.vector_indexes where valid), 4::bigint,
  'a refused rebuild keeps the indexes'
);

-- A failed rebuild

drop index memory.rules_embedding_idx;
create table memory.rules_embedding_idx ();
select throws_ok(
  $$ select memory.rebuild_vector_indexes('ivfflat') $$, '42809', null,
  'a rebuild fails if the name of an index is taken'
);
select results_eq(
  $$ select method, count(*) from memory_test.vector_indexes where valid group by 1 $$,
  $$ values ('hnsw', 3::bigint) $$,
  'a failed rebuild keeps the indexes'
);
drop table memory.rules_embedding_idx;
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.facts_embedding_idx'::regclass;
select memory.rebuild_vector_indexes('hnsw');
select is(
  (select count(*) from memory_test.vector_indexes where valid), 4::bigint,
  'a rebuild replaces invalid and missing indexes'
);

-- Privileges

select memory_test.a_login('vector_indexes_admin', 'a', 'memory_admin');
select memory_test.a_login('vector_indexes_writer', 'a', 'memory_writer, memory_worker, memory_reader');
select memory_test.share_results();
set local session authorization vector_indexes_admin;
select is(
  memory.rebuild_vector_indexes('ivfflat'), 'ivfflat',
  'an administrator rebuilds indexes without privileges on the tables'
);
set local session authorization vector_indexes_writer;
select throws_ok(
  $$ select memory.rebuild_vector_indexes('exact') $$, '42501', null,
  'other roles cannot rebuild indexes'
);
set local session authorization default;
select is(
  (select string_agg(distinct method, ' ') from memory_test.vector_indexes), 'ivfflat',
  'the indexes are those that the administrator rebuilt'
);
select is_empty(
  $$ select v.name from memory_test.vector_indexes as v
     join pg_class as c on c.oid = v.name::regclass
     where c.relowner <> 'memory_owner'::regrole $$,
  'rebuilt indexes belong to the owner of the schema'
);

select * from finish();
rollback;
