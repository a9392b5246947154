begin;
\ir fixtures.sql
select plan(38);

-- Random vectors, the same in every run, have no near neighbors: the hardest case for an index.

select setseed(0.5);
create table memory_test.vectors as
select n as number, r.embedding::vector as embedding
from generate_series(1, 512) as n
cross join lateral (
  select array_agg(random() - 0.5) as embedding from generate_series(1, 384) as i where n > 0
) as r;
insert into memory.embedding_versions (tenant_id, id, model, version, status)
select t.tenant_id, '00000000-0000-0000-0000-0000000000f1', 'model', '1', 'active'
from unnest('{a,b,c}'::text[]) as t (tenant_id);

create view memory_test.recall as
select
  r.memory_type, r.method, r.is_valid, r.is_used, r.memories, r.queries,
  r.index_overlap, r.worst_index_overlap, r.short_index_answers,
  r.search_overlap, r.worst_search_overlap, r.short_searches, r.exact_ms, r.index_ms, r.search_ms
from memory.measure_index_recall() as r;

-- An IVFFlat index built on an empty table has arbitrary lists. Of 200 lists, a search reads 40; of
-- 20, as in the index of rules, all.

select memory.rebuild_vector_indexes('ivfflat', lists => 200) \g /dev/null
drop index memory.rules_embedding_idx;
create index rules_embedding_idx on memory.rules
using ivfflat ((l2_normalize(embedding)::halfvec(384)) halfvec_cosine_ops) with (lists = 20) where lifecycle_state <> 'retracted';
insert into memory.facts
  (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select
  case when v.number <= 500 then 'a' else 'b' end, 'vector', v.number::text, 'x', v.embedding,
  '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v;
insert into memory.rules (tenant_id, content, embedding, embedding_version_id)
select 'a', v.number::text, v.embedding, '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v
where v.number <= 500;
insert into memory.facts (tenant_id, subject, predicate, content) values ('a', 's', 'no vector', 'x');
insert into memory.facts
  (tenant_id, subject, predicate, content, validity, embedding, embedding_version_id)
select 'a', 's', 'not live', 'x', 'retracted', v.embedding, '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v
where v.number = 1;
analyze memory.facts, memory.rules;

select results_eq(
  $$ select r.memory_type, r.method, r.is_valid, r.is_used, r.memories, r.queries from memory_test.recall as r $$,
  $$ values
     ('entry', 'ivfflat', true, false, 0::bigint, 0::bigint),
     ('episode', 'ivfflat', true, false, 0, 0),
     ('fact', 'ivfflat', true, false, 500, 20),
     ('rule', 'ivfflat', true, false, 500, 20) $$,
  'each memory type has a row with its index, its searchable vectors and the sample size'
);
select results_eq(
  $$ select r.index_overlap, r.worst_index_overlap, r.short_index_answers, r.search_overlap,
       r.worst_search_overlap, r.short_searches, r.exact_ms, r.index_ms, r.search_ms
     from memory_test.recall as r where r.memory_type = 'episode' $$,
  $$ values (
       null::float8, null::float8, 0::bigint, null::float8, null::float8, 0::bigint, null::float8,
       null::float8, null::float8
     ) $$,
  'a memory type without memories has nothing to compare'
);
create table memory_test.facts as select r.* from memory_test.recall as r where r.memory_type = 'fact';
select cmp_ok(
  (select f.index_overlap from memory_test.facts as f), '<', 0.97::float8,
  'an index built on an empty table misses many neighbors'
);
select cmp_ok(
  (select f.index_overlap from memory_test.facts as f), '>=', 0.1::float8,
  'an index built on an empty table finds at least the queried memory'
);
select cmp_ok(
  (select f.worst_index_overlap from memory_test.facts as f), '<',
  (select f.index_overlap from memory_test.facts as f),
  'the worst query of an index is worse than the average'
);
select results_eq(
  $$ select f.search_overlap, f.worst_search_overlap, f.short_searches from memory_test.facts as f $$,
  $$ values (1.0::float8, 1.0::float8, 0::bigint) $$,
  'search is complete because it compares so few vectors exactly'
);
select results_eq(
  $$ select r.index_overlap >= 0.98, r.worst_index_overlap >= 0.9, r.short_index_answers, r.search_overlap
     from memory_test.recall as r where r.memory_type = 'rule' $$,
  -- The tenth and the eleventh nearest may change places, as the index holds halves.
  $$ values (true, true, 0::bigint, 1.0::float8) $$,
  'an index of 20 lists, all of which are read, misses nothing but by rounding'
);
select ok(
  f.exact_ms > 0 and f.index_ms > 0 and f.search_ms > 0,
  'measure_index_recall returns the time of each method'
) from memory_test.facts as f;

-- The actual answers of the raw index, compared by hand

create table memory_test.sampled as
select f.predicate::integer as number, v.embedding
from memory.facts as f
join memory_test.vectors as v on v.number = f.predicate::integer
where f.tenant_id = 'a' and f.subject = 'vector' and f.validity = 'active'
order by hashtextextended(f.id::text, 0), f.id
limit 20;
select is(
  (
    select round(avg(
      (
        select count(*)
        from memory.approximate_neighbors('fact', s.embedding, null, 10, 0, now()) as n
        join memory.facts as f on f.tenant_id = 'a' and f.id = n.id
        where f.predicate::integer in (
          select v.number
          from memory_test.vectors as v
          where v.number <= 500
          order by v.embedding <=> s.embedding, v.number
          limit 10
        )
      )
    ) / 10, 6)
    from memory_test.sampled as s
  ),
  (select round(f.index_overlap::numeric, 6) from memory_test.facts as f),
  'the overlap is the share of the ten nearest that the index finds'
);
select results_eq(
  $$ select r.memory_type, r.index_overlap, r.search_overlap from memory.measure_index_recall() as r $$,
  $$ select r.memory_type, r.index_overlap, r.search_overlap from memory.measure_index_recall() as r $$,
  'measure_index_recall returns the same overlaps again'
);
select results_eq(
  $$ select r.queries from memory.measure_index_recall(sample => 3) as r $$,
  $$ values (0::bigint), (0), (3), (3) $$, 'the sample is as large as requested'
);
select results_eq(
  $$ select r.queries, r.short_index_answers > 0, r.search_overlap, r.short_searches
     from memory.measure_index_recall(sample => 1000, depth => 501) as r where r.memory_type = 'fact' $$,
  $$ values (500::bigint, true, 1.0::float8, 0::bigint) $$,
  'the sample is limited to the memories, and an answer with all of them is not short'
);

-- A tenant with few vectors among those of other tenants

select memory_test.as_tenant('b');
select results_eq(
  $$ select r.memories, r.queries, r.index_overlap < 0.97, r.short_index_answers > 0, r.search_overlap,
       r.short_searches
     from memory_test.recall as r where r.memory_type = 'fact' $$,
  $$ values (12::bigint, 12::bigint, true, true, 1.0::float8, 0::bigint) $$,
  'the index returns too few memories for a small tenant, and search does not'
);
select memory.configure('{"exact_scan_limit": 0}') \g /dev/null
select results_eq(
  $$ select r.is_used, r.short_index_answers > 0, r.short_searches
     from memory_test.recall as r where r.memory_type = 'fact' $$,
  $$ values (true, true, 0::bigint) $$,
  'a search that uses the index replaces a short answer by the exact one'
);
select cmp_ok(
  (select r.search_overlap from memory_test.recall as r where r.memory_type = 'fact'), '>',
  (select r.index_overlap from memory_test.recall as r where r.memory_type = 'fact'),
  'a search that replaces short answers finds more than the index'
);
select memory_test.as_tenant('c');
select results_eq(
  $$ select r.memory_type, r.is_valid, r.is_used, r.memories, r.queries from memory_test.recall as r $$,
  $$ values
     ('entry', true, false, 0::bigint, 0::bigint), ('episode', true, false, 0, 0),
     ('fact', true, false, 0, 0), ('rule', true, false, 0, 0) $$,
  'measure_index_recall counts only memories of its tenant'
);

-- Where search uses the index, it misses the same memories.

select memory_test.as_tenant('a');
select memory.configure('{"exact_scan_limit": 0}') \g /dev/null
select results_eq(
  $$ select r.memory_type, r.is_used, r.search_overlap = r.index_overlap, r.search_overlap >= 0.97,
       r.short_searches
     from memory_test.recall as r where r.memory_type in ('fact', 'rule') $$,
  $$ values ('fact', true, true, false, 0::bigint), ('rule', true, true, true, 0) $$,
  'search misses what an index of many lists on an empty table misses'
);

-- Other methods

select memory.rebuild_vector_indexes('hnsw') \g /dev/null
select results_eq(
  $$ select r.memory_type, r.method, r.is_used, r.index_overlap >= 0.97, r.search_overlap >= 0.97,
       r.short_searches
     from memory_test.recall as r where r.memory_type in ('fact', 'rule') $$,
  $$ values ('fact', 'hnsw', true, true, true, 0::bigint), ('rule', 'hnsw', true, true, true, 0) $$,
  'an HNSW index finds at least 0.97 of the ten nearest'
);
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.facts_embedding_idx'::regclass;
select results_eq(
  $$ select r.method, r.is_valid, r.is_used, r.queries, r.index_overlap, r.short_index_answers, r.index_ms,
       r.search_overlap
     from memory_test.recall as r where r.memory_type = 'fact' $$,
  $$ values (
       'hnsw', false, false, 20::bigint, null::float8, null::bigint, null::float8, 1.0::float8
     ) $$,
  'an invalid index is neither used nor measured'
);
select memory.rebuild_vector_indexes('exact') \g /dev/null
select results_eq(
  $$ select r.memory_type, r.method, r.is_valid, r.is_used, r.index_overlap, r.short_index_answers,
       r.search_overlap, r.short_searches
     from memory_test.recall as r where r.memory_type in ('fact', 'rule') $$,
  $$ values
     ('fact', 'exact', null::boolean, false, null::float8, null::bigint, 1.0::float8, 0::bigint),
     ('rule', 'exact', null, false, null, null, 1.0, 0) $$,
  'without an approximate index only search is measured'
);

-- Equal distances: any of these memories is as good as another.

insert into memory.episodes
  (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
select
  'c', 'home', n::text, '2026-01-01Z'::timestamptz + n * interval '1 minute',
  case when n <= 30 then '2026-02-01Z'::timestamptz end, memory_test.axis(1 + n % 2),
  '00000000-0000-0000-0000-0000000000f1'
from generate_series(1, 60) as n;
analyze memory.episodes;
select memory.rebuild_vector_indexes('hnsw') \g /dev/null
select memory_test.as_tenant('c');
select results_eq(
  $$ select r.memories, r.index_overlap, r.short_index_answers
     from memory.measure_index_recall(as_of => '2026-01-02Z') as r where r.memory_type = 'episode' $$,
  $$ values (60::bigint, 1.0::float8, 0::bigint) $$,
  'any of several equally near memories counts as found'
);
select results_eq(
  $$ select r.memories, r.queries
     from memory.measure_index_recall(100, as_of => '2026-02-01Z') as r where r.memory_type = 'episode' $$,
  $$ values (30::bigint, 30::bigint) $$,
  'expired episodes are not counted'
);

-- Refused arguments

select throws_ok(
  format('select * from memory.measure_index_recall(%s)', c.arguments), 'PM002', c.message,
  format('measure_index_recall(%s) is refused', c.arguments)
)
from (values
  (1, 'sample => 0', 'sample is 0'),
  (2, 'sample => 1001', 'sample is 1001'),
  (3, 'sample => null', 'sample is NULL'),
  (4, 'depth => 0', 'depth is 0'),
  (5, 'depth => 1001', 'depth is 1001'),
  (6, 'depth => null', 'depth is NULL'),
  (7, 'as_of => null', 'as_of is NULL'),
  (8, 'as_of => ''infinity''', 'as_of is infinity')
) as c (position, arguments, message)
order by c.position;

-- How deep indexes are searched, recorded by a function that is called for each row they return.

create or replace function memory.effective_confidence(
  confidence float8,
  decay_rate float8,
  last_confirmed_at timestamptz,
  as_of timestamptz default now()
)
  returns float8
  language plpgsql
as $$
begin
  perform set_config(
    'memory_test.seen',
    format(
      '%s %s %s',
      current_setting('hnsw.ef_search'), current_setting('ivfflat.probes'),
      coalesce(current_setting('hnsw.iterative_scan', true), 'relaxed_order') -- pgvector 0.8
    ),
    true
  );
  return 1;
end;
$$;
select memory_test.as_tenant('a');
set local memory_test.seen = '';
select count(*)
from unnest('{episode,fact,rule}'::text[]) as t (type)
cross join lateral memory.approximate_neighbors(
  t.type, memory_test.axis(1), null, 10, 0.5, now()
) as n \g /dev/null
select is(
  current_setting('memory_test.seen'), '150 20 relaxed_order',
  'HNSW compares 150 candidates and reads on, and IVFFlat reads 20 lists'
);
set local hnsw.ef_search = 41;
set local ivfflat.probes = 3;
select count(*)
from unnest('{episode,fact,rule}'::text[]) as t (type)
cross join lateral memory.approximate_neighbors(
  t.type, memory_test.axis(1), null, 10, 0.5, now()
) as n \g /dev/null
select is(
  current_setting('memory_test.seen'), '150 20 relaxed_order',
  'a session cannot lower the search depth'
);
select is(
  array[current_setting('hnsw.ef_search'), current_setting('ivfflat.probes')], '{41,3}',
  'a search restores the settings of the session'
);
select ok(
  coalesce(current_setting('hnsw.iterative_scan', true), 'off') = 'off',
  'a search restores the iterative scan setting of pgvector 0.8'
);
set local hnsw.ef_search = 700;
set local ivfflat.probes = 99;
select count(*)
from unnest('{episode,fact,rule}'::text[]) as t (type)
cross join lateral memory.approximate_neighbors(
  t.type, memory_test.axis(1), null, 10, 0.5, now()
) as n \g /dev/null
select is(
  current_setting('memory_test.seen'), '700 99 relaxed_order',
  'a session can raise the search depth'
);
select memory.rebuild_vector_indexes('ivfflat', lists => 512) \g /dev/null
set local ivfflat.probes = 1;
select count(*)
from unnest('{episode,fact,rule}'::text[]) as t (type)
cross join lateral memory.approximate_neighbors(
  t.type, memory_test.axis(1), null, 10, 0.5, now()
) as n \g /dev/null
select is(
  current_setting('memory_test.seen'), '700 102 relaxed_order',
  'a search of 512 lists reads a fifth of them'
);

-- Privileges

select memory_test.a_login('vector_recall_admin', 'a', 'memory_admin');
select memory_test.a_login('vector_recall_writer', 'a', 'memory_writer, memory_worker, memory_reader');
select memory_test.share_results();
set local session authorization vector_recall_admin;
select is(
  (select r.memories from memory.measure_index_recall() as r where r.memory_type = 'rule'), 500::bigint,
  'an administrator checks recall without privileges on the tables'
);
set local session authorization vector_recall_writer;
select throws_ok(
  'select * from memory.measure_index_recall()', '42501', null, 'other roles cannot check recall'
);
set local session authorization default;

select * from finish();
rollback;
