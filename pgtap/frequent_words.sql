begin;
\ir fixtures.sql
select plan(15);

select memory_test.as_tenant('many');
-- Ids are random: half of the notes say it's a river, one of a hundred a ferry, three an otter.
insert into memory.rules (tenant_id, id, scope, content, created_at)
select
  'many', md5(n::text)::uuid, 'global',
  case when n % 2 = 0 then 'river ' else 'brook ' end
  || case when n % 100 = 0 then 'ferry ' else '' end
  || case when n in (2000, 2001, 5000) then 'otter ' else '' end || 'number' || n,
  '2026-01-01Z'
from generate_series(1, 8000) as n;
create function memory_test.found(
  query text,
  max_results integer default 10
)
  returns text[]
  language sql
begin atomic
  select array_agg(m.content order by m.content)
  from memory.search(
    found.query, mode => 'keyword', max_results => max_results, min_relevance => 0,
    as_of => '2026-01-05Z'
  ) as m;
end;
create temporary table exact as
select q.query, m.content, m.keyword_score, m.relevance
from unnest('{otter river,ferry river otter,river}'::text[]) as q (query)
cross join lateral memory.search(
  q.query, mode => 'keyword', max_results => 3, min_relevance => 0, as_of => '2026-01-05Z'
) as m;

select results_eq(
  $$ select s.position, s.share between 0.4 and 0.6
     from unnest(memory.frequent_words(
       (memory.corpus_sizes('{rule}'))[1], '{river,ferry,otter}'::tsquery[], true, 'many'
     )) with ordinality as s (share, position) $$,
  $$ values (1::bigint, true), (2, null), (3, null) $$,
  'only words that are not looked up have a share, which a sample estimates'
);
select is(
  cardinality(array_positions(
    memory.frequent_words((memory.corpus_sizes('{rule}'))[1], '{river,brook}'::tsquery[], true, 'many'), null
  )),
  1, 'of two frequent words one is looked up'
);
select is(
  memory.frequent_words((memory.corpus_sizes('{rule}'))[1], '{ferry,otter}'::tsquery[], true, 'many'),
  null, 'all words are looked up if few memories contain them'
);
select is(
  memory.frequent_words((memory.corpus_sizes('{rule}'))[1], '{river}'::tsquery[], true, 'many'),
  null, 'a single word is looked up, however frequent it is'
);

insert into memory.rules (tenant_id, id, scope, content, created_at)
select
  'uneven', (case when n % 4 < 2 then '0' else '8' end || substr(md5(n::text), 2))::uuid, 'global',
  case when n % 4 < 2 then 'pelican ' else '' end || 'number' || n, '2026-01-01Z'
from generate_series(1, 8000) as n;
select memory_test.as_tenant('uneven');
select is(
  memory.frequent_words((memory.corpus_sizes('{rule}'))[1], '{pelican,number7}'::tsquery[], true, 'uneven'),
  null, 'the sample is a range of ids: a word of others counts as rare'
);
select memory_test.as_tenant('many');

select memory.configure('{"exact_scan_limit": 100}') \g /dev/null
select is(
  memory_test.found('otter river', 100),
  '{brook otter number2001,river ferry otter number2000,river ferry otter number5000}'::text[],
  'beyond exact_scan_limit, a frequent word leads to no memory that has no other word of the query'
);
select is(
  cardinality(memory_test.found('river', 100)), 100,
  'a frequent word that is the only one of the query is looked up'
);
select is(
  cardinality(memory_test.found('river brook', 100)), 100,
  'a query of frequent words alone finds memories'
);
select results_eq(
  $$ select e.query, m.content, abs(m.keyword_score / e.keyword_score - 1) < 0.05,
       abs(m.relevance - e.relevance) < 0.02
     from exact as e
     left join lateral memory.search(
       e.query, mode => 'keyword', max_results => 3, min_relevance => 0, as_of => '2026-01-05Z'
     ) as m on m.content = e.content
     order by e.query, e.content $$,
  $$ select e.query, e.content, true, true from exact as e order by e.query, e.content $$,
  'beyond exact_scan_limit, the same memories are best, with nearly the same score'
);
select memory.configure('{"exact_scan_limit": 10000}') \g /dev/null
select is(
  cardinality(memory_test.found('otter river', 100)), 100,
  'up to exact_scan_limit, memories with only a frequent word are found, too'
);

-- With an approximate index and the vector of a query, meaning leads to memories.
-- About 27 notes have each of 299 vectors, the nearest of which is that of the query; half of them say
-- it's a river.
insert into memory.embedding_versions (tenant_id, id, model, version, status)
values ('many', '00000000-0000-0000-0000-0000000000f1', 'model', '1', 'active');
update memory.rules
set
  embedding = memory_test.near((1 + substr(content, strpos(content, 'number') + 6)::integer % 299) / 299.0),
  embedding_version_id = '00000000-0000-0000-0000-0000000000f1'
where tenant_id = 'many';
select memory.rebuild_vector_indexes('hnsw') \g /dev/null
select memory.configure('{"exact_scan_limit": 100}') \g /dev/null
select is(
  cardinality(array_positions(
    memory.frequent_words(
      (memory.corpus_sizes('{rule}'))[1], '{river,ferry}'::tsquery[], false, 'many'
    ), null
  )),
  1, 'a word that few memories contain is looked up, whatever else leads to memories'
);
select is(
  cardinality(array_positions(
    memory.frequent_words((memory.corpus_sizes('{rule}'))[1], '{river}'::tsquery[], false, 'many'), null
  )),
  0, 'no word has to be looked up where something else leads to memories'
);
create temporary table led as
select row_number() over () as place, m.content, m.similarity, m.keyword_score
from memory.search(
  'river', embedding => memory_test.axis(1), min_relevance => 0, as_of => '2026-01-05Z'
) as m;
select is(
  array_agg(l.similarity), array_fill(1.0::float8, array[10]),
  'a frequent word leads to no memory that an approximate index does not find'
)
from led as l;
select is(
  array_agg(l.content like 'river%' and l.keyword_score > 0), '{t,t,t}',
  'a frequent word counts in the memories that an approximate index finds'
)
from led as l
where l.place <= 3;
select is(
  count(m.keyword_score) filter (where m.content like 'river%'),
  count(*) filter (where m.content like 'river%'),
  'a frequent word counts in the memories that an approximate index finds, beside a rare one, too'
)
from memory.search(
  'river otter', embedding => memory_test.axis(1), min_relevance => 0, as_of => '2026-01-05Z'
) as m;

select * from finish();
rollback;
