begin;
\ir fixtures.sql
select plan(30);

-- Ada lived in Paris until she moved in May 2024; the memory learned of Rome in February 2026.

select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact(
  'Ada', 'lives in', 'Paris', valid_from => '2020-01-01Z', embedding => memory_test.near(0.8),
  as_of => '2026-01-01Z'
) as paris \gset
select memory.store_fact(
  'Ada', 'lives in', 'Rome', valid_from => '2024-05-01Z', embedding => memory_test.near(0.9),
  as_of => '2026-02-01Z'
) as rome \gset
select memory.store_fact('Bob', 'lives in', 'Bonn', as_of => '2026-02-15Z') as bonn \gset
select memory.store_rule('Ask where somebody lives', as_of => '2026-02-16Z') as rule \gset
select memory.store_episode('Ada lives well', 'home', as_of => '2026-01-10Z') as episode \gset

-- The contents that recall finds, best first.
create function memory_test.recalled(
  known_at timestamptz,
  valid_at timestamptz,
  types text[] default '{fact}'
)
  returns text[]
  language sql
  return array(
    select m.content
    from memory.recall(
      'where Ada lives', types => types, embedding => memory_test.axis(1), known_at => known_at,
      valid_at => valid_at, as_of => '2026-03-01Z'
    ) with ordinality as m
    order by m.ordinality
  );

select is(
  memory_test.recalled('2026-01-15Z', null), '{Paris}',
  'in January the memory knew of Paris'
);
select is(
  memory_test.recalled('2026-02-10Z', null), '{Rome}',
  'in February the memory knew of Rome'
);
select is(
  memory_test.recalled('2026-02-20Z', null), '{Rome,Bonn}',
  'later in February the memory also knew of Bob'
);
select is(
  memory_test.recalled('2025-12-31Z', null), '{}',
  'before its first fact the memory knew nothing'
);
select is(
  memory_test.recalled('2026-02-01Z', null), '{Rome}',
  'an interval of knowledge includes its beginning'
);
select is(
  memory_test.recalled('2026-02-01Z'::timestamptz - interval '1 microsecond', null), '{Paris}',
  'an interval of knowledge excludes its end'
);

-- What held

select is(memory_test.recalled(null, '2021-01-01Z'), '{Paris}', 'in 2021 Ada lived in Paris');
select is(
  memory_test.recalled(null, '2024-06-01Z'), '{Rome}',
  'in 2024 Ada lived in Rome, as is known now'
);
select is(
  memory_test.recalled('2026-01-15Z', '2024-06-01Z'), '{Paris}',
  'in January the memory assumed that Ada lived in Paris in 2024'
);
select is(memory_test.recalled(null, '2019-01-01Z'), '{}', 'nothing is known about 2019');
select is(
  memory_test.recalled(null, '2024-05-01Z'), '{Rome}',
  'an interval of validity includes its beginning'
);
select is(
  memory_test.recalled(null, '2020-01-01Z'), '{Paris}', 'that of a fact which was superseded, too'
);
select is(
  memory_test.recalled(null, '2024-05-01Z'::timestamptz - interval '1 microsecond'), '{Paris}',
  'and excludes its end'
);
select memory.forget_memory('fact', :'rome', '2026-02-25Z') \g /dev/null
select is(memory_test.recalled(null, '2024-06-01Z'), '{}', 'a retracted fact never held');
select is(
  memory_test.recalled('2026-02-20Z', '2024-06-01Z'), '{Rome}',
  'a retracted fact was believed before its retraction'
);

-- Episodes, rules and confidence

select is(
  memory_test.recalled('2026-01-12Z', null, '{episode}'), '{"Ada lives well"}',
  'an expired episode is recalled as of a time before its expiry'
);
select is(
  memory_test.recalled('2026-01-17Z', null, '{episode}'), '{}',
  'an episode is not recalled as of a time after its expiry'
);
select memory.forget_memory('episode', :'episode', '2026-01-15Z') \g /dev/null
select is(
  memory_test.recalled('2026-01-14Z', null, '{episode}'), '{"Ada lives well"}',
  'a forgotten episode is recalled as of a time before it was forgotten'
);
select is(
  memory_test.recalled('2026-01-15Z', null, '{episode}'), '{}',
  'an episode is not recalled as of the time when it was forgotten'
);
select memory.mark_harmful(:'rule', as_of => '2026-02-17Z') from generate_series(1, 3) \g /dev/null
select memory.run_rule_hygiene('2026-02-18Z') \g /dev/null
select is(
  memory_test.recalled('2026-02-17Z', null, '{rule}'), '{"Ask where somebody lives"}',
  'a rule is recalled with its content of the time'
);
select is(
  (select m.maturity from memory.rank_memories('lives', types => '{rule}', known_at => '2026-02-19Z', as_of => '2026-03-01Z') as m),
  'anti_pattern', 'a rule has its maturity of the time'
);
select memory.confirm_memory('fact', :'bonn', '2026-02-26Z') \g /dev/null
select results_eq(
  $$ select m.last_confirmed_at, round(m.effective_confidence::numeric, 6)
     from memory.rank_memories('Bob lives', types => '{fact}', known_at => '2026-02-25Z') as m where m.subject = 'Bob' $$,
  $$ values ('2026-02-15Z'::timestamptz, round(exp(-0.08), 6)) $$,
  'confidence is computed as of the time'
);

-- The same ranking as recall

select memory.configure('{"min_confidence": 0}') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, importance, embedding, embedding_version_id, created_at)
select
  'a', 'subject ' || n, 'said', (array['tea', 'coffee', 'milk'])[1 + n % 3] || ' for ' || n, n % 11,
  memory_test.near(sin(n)),
  (select v.id from memory.active_embedding_version() as v), '2026-01-01Z'::timestamptz + n * interval '1 hour'
from generate_series(1, 60) as n;
select count(*) from memory.recall('tea', max_results => 5, as_of => '2026-02-28Z') \g /dev/null
select results_eq(
  $$ select m.id, m.similarity, m.keyword_score, m.meaning, m.words, m.named_boost, m.time_boost, m.relevance, m.recency, m.effective_confidence, m.score
     from memory.rank_memories(
       'tea for two', embedding => memory_test.axis(1), max_results => 30, known_at => '2026-03-01Z', as_of => '2026-03-01Z'
     ) as m $$,
  $$ select m.id, m.similarity, m.keyword_score, m.meaning, m.words, m.named_boost, m.time_boost, m.relevance, m.recency, m.effective_confidence, m.score
     from memory.rank_memories(
       'tea for two', embedding => memory_test.axis(1), max_results => 30, as_of => '2026-03-01Z'
     ) as m $$,
  'what was known now ranks as recall ranks now'
);
select results_eq(
  $$ select m.id, m.similarity, m.keyword_score, m.meaning, m.words, m.named_boost, m.time_boost, m.relevance, m.recency, m.effective_confidence, m.score
     from memory.rank_memories(
       'tea for two', scope => 'home', max_results => 30, known_at => '2026-03-01Z', as_of => '2026-03-01Z'
     ) as m $$,
  $$ select m.id, m.similarity, m.keyword_score, m.meaning, m.words, m.named_boost, m.time_boost, m.relevance, m.recency, m.effective_confidence, m.score
     from memory.rank_memories('tea for two', scope => 'home', max_results => 30, as_of => '2026-03-01Z') as m $$,
  'what was known now ranks as recall does in a scope and without a vector'
);
select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) as facts_before from memory.facts as f \gset
select count(*) from memory.recall('tea', known_at => '2026-02-27Z') \g /dev/null
select is(
  (select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) from memory.facts as f), :'facts_before',
  'recall of a past time counts no references'
);

-- What the time of a query lifts, if others are nearer.
create function memory_test.lifts(tenant_id text, nearer integer, max_results integer, known_at timestamptz)
  returns boolean
  language plpgsql
as $$
begin
  perform memory_test.as_tenant(tenant_id);
  perform memory.register_embedding_version('model', '1');
  perform memory.configure('{"candidate_pool": 1}');
  perform memory.store_fact('Ada', 'timely', 'timely', embedding => memory_test.near(0.8), as_of => '2026-01-05Z');
  perform memory.store_fact('Ada', 'other ' || n, 'other', embedding => memory_test.near(0.95 - n / 1000.0), as_of => '2025-12-01Z')
  from generate_series(1, nearer) as n;
  return (
    select m.content = 'timely'
    from memory.recall(
      'What happened in January 2026?', types => '{fact}', max_results => lifts.max_results, embedding => memory_test.axis(1),
      known_at => lifts.known_at, as_of => '2026-02-03Z'
    ) with ordinality as m
    order by m.ordinality
    limit 1
  );
end;
$$;
select results_eq(
  $$ select memory_test.lifts(format('%s beside %s %s', p.max_results, p.nearer, t.known_at), p.nearer, p.max_results, t.known_at)
     from (values (1, 1, 19), (2, 1, 20), (3, 11, 21), (4, 11, 22)) as p (position, max_results, nearer)
     cross join (values (timestamptz '2026-02-02Z'), (null)) as t (known_at)
     order by t.known_at, p.position $$,
  $$ values (true), (false), (true), (false), (true), (false), (true), (false) $$,
  'the past is searched as deep as the present: twice as many as are wanted, at least 20'
);
select memory_test.as_tenant('a') \g /dev/null

select throws_ok(
  $$ select memory.recall('tea', known_at => 'infinity') $$, 'PM002', null,
  'an infinite known_at is refused'
);
select throws_ok(
  $$ select memory.recall('tea', valid_at => '-infinity') $$, 'PM002', null,
  'an infinite valid_at is refused'
);
select memory_test.as_tenant('b') \g /dev/null
select is(
  memory_test.recalled('2026-02-10Z', null), '{}',
  'recall of what was known finds nothing of another tenant'
);
select is(
  memory_test.recalled(null, '2021-01-01Z'), '{}',
  'recall of what held finds nothing of another tenant'
);

select * from finish();
rollback;
