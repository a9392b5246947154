begin;
\ir fixtures.sql
select plan(84);

select memory.register_embedding_version('model', '1') as version_id \gset
select memory.configure('{"ranking": "specified"}') \g /dev/null

-- Memories about tea, each best at something else, as seen ten days later.

insert into memory.facts
  (tenant_id, id, subject, predicate, content, importance, confidence, permanence, decay_rate, created_at,
   last_referenced_at, embedding, embedding_version_id)
values
(
  'a', '00000000-0000-0000-0000-000000000001', 'f', 'relevant', 'tea tea tea', 0, 0.5, 'standard', 0.008,
  '2026-01-01Z', null, memory_test.near(0.9), :'version_id'
),
(
  'a', '00000000-0000-0000-0000-000000000002', 'f', 'important', 'tea tea', 10, 0.5, 'stable', 0.002,
  '2026-01-01Z', null, memory_test.near(0.8), :'version_id'
);
insert into memory.rules
  (tenant_id, id, content, scope, importance, confidence, created_at, last_referenced_at, embedding,
   embedding_version_id)
values (
  'a', '00000000-0000-0000-0000-000000000003', 'tea', 'recent', 5, 1, '2026-01-01Z', '2026-01-10Z',
  memory_test.near(0.7), :'version_id'
);
insert into memory.episodes
  (tenant_id, id, content, butler, importance, created_at, last_referenced_at, expires_at)
values (
  'a', '00000000-0000-0000-0000-000000000004', 'tea', 'certain', 2, '2026-01-01Z', '2026-01-04Z', null
);

select results_eq(
  $$ select m.memory_type, coalesce(m.predicate, m.scope), m.semantic_rank, m.keyword_rank,
       round(m.relevance::numeric, 9), round(m.recency::numeric, 9), m.importance,
       round(m.effective_confidence::numeric, 9), round(m.score::numeric, 9)
     from memory.rank_memories('tea', embedding => memory_test.axis(1), as_of => '2026-01-11Z') as m $$,
  $$ select v.memory_type, v.name, v.semantic_rank, v.keyword_rank, round(v.relevance::numeric, 9),
       round(v.recency::numeric, 9), v.importance, round(v.confidence::numeric, 9),
       round((0.4 * v.relevance + 0.3 * v.importance / 10 + 0.2 * v.recency + 0.1 * v.confidence)::numeric, 9)
     from (values
       ('rule', 'recent', 1::bigint, 1::bigint, 1.0::float8, exp(-ln(2::float8) / 7), 5::float8,
         exp(-0.08::float8)),
       ('fact', 'important', 2, 2, (2.0::float8 / 62) / (2.0::float8 / 61), 0, 10, 0.5 * exp(-0.02::float8)),
       ('episode', 'certain', null, 1, (1.0::float8 / 61 + 1.0::float8 / 71) / (2.0::float8 / 61), 0.5, 2,
         1),
       ('fact', 'relevant', 1, 1, 1, 0, 0, 0.5 * exp(-0.08::float8))
     ) as v (
       memory_type, name, semantic_rank, keyword_rank, relevance, recency, importance, confidence
     ) $$,
  'memories are ordered by the composite score of relevance, importance, recency and confidence'
);
select results_eq(
  $$ select m.predicate, round(m.similarity::numeric, 5), m.keyword_score, m.rrf_score
     from memory.rank_memories(
       'tea', types => '{fact}', embedding => memory_test.axis(1), as_of => '2026-01-11Z'
     ) as m $$,
  $$ values
     ('important', 0.80000, ts_rank(to_tsvector('english', 'f important tea tea'), 'tea')::float8,
       2.0::float8 / 62),
     ('relevant', 0.90000, ts_rank(to_tsvector('english', 'f relevant tea tea tea'), 'tea')::float8,
       2.0::float8 / 61) $$,
  'rank_memories returns every part of the score'
);
select results_eq(
  $$ select m.memory_type, m.id::text, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
       m.permanence, m.maturity, m.effectiveness_score, m.entity_id, m.session_id, m.tags, m.metadata,
       m.created_at, m.last_confirmed_at, m.last_referenced_at, m.reference_count
     from memory.rank_memories(
       'tea', types => '{fact}', embedding => memory_test.axis(1), as_of => '2026-01-11Z'
     ) as m where m.predicate = 'important' $$,
  $$ values (
    'fact', '00000000-0000-0000-0000-000000000002', 'global', 'f', 'important', 'tea tea', 10::float8,
    0.5::float8, 'stable', null::text, null::float8, null::uuid, null::uuid, '[]'::jsonb, '{}'::jsonb,
    '2026-01-01Z'::timestamptz, '2026-01-01Z'::timestamptz, null::timestamptz, 0
  ) $$,
  'rank_memories returns the memory as it is stored'
);

-- Repeatable answers and references

select results_eq(
  $$ select m.*
     from memory.rank_memories('tea', embedding => memory_test.axis(1), as_of => '2026-01-11Z') as m $$,
  $$ select m.*
     from memory.rank_memories('tea', embedding => memory_test.axis(1), as_of => '2026-01-11Z') as m $$,
  'the same query at the same time has the same answer, to the last digit'
);
select is_empty(
  $$ select m.id from memory.searchable_memories as m
     where m.tenant_id = 'a' and (m.reference_count <> 0 or m.last_referenced_at > '2026-01-10Z') $$,
  'ranking does not count as a reference'
);
select results_eq(
  $$ select m.id from memory.recall('tea', embedding => memory_test.axis(1), as_of => '2026-01-11Z') as m $$,
  $$ values
     ('00000000-0000-0000-0000-000000000003'::uuid), ('00000000-0000-0000-0000-000000000002'),
     ('00000000-0000-0000-0000-000000000004'), ('00000000-0000-0000-0000-000000000001') $$,
  'recall returns the memories of rank_memories in the same order'
);
select results_eq(
  $$ select m.id, m.reference_count, m.last_referenced_at from memory.searchable_memories as m
     where m.tenant_id = 'a' order by m.id $$,
  $$ values
     ('00000000-0000-0000-0000-000000000001'::uuid, 1, '2026-01-11Z'::timestamptz),
     ('00000000-0000-0000-0000-000000000002', 1, '2026-01-11Z'),
     ('00000000-0000-0000-0000-000000000003', 1, '2026-01-11Z'),
     ('00000000-0000-0000-0000-000000000004', 1, '2026-01-11Z') $$,
  'recall counts one reference to each memory that it returns, at its time'
);
select results_eq(
  $$ select m.reference_count, m.last_referenced_at, m.recency
     from memory.recall(
       'tea', types => '{fact}', max_results => 1, embedding => memory_test.axis(1), as_of => '2026-01-18Z'
     ) as m $$,
  $$ values (1, '2026-01-11Z'::timestamptz, exp(-ln(2.0::float8) / 7 * 7)) $$,
  'recall returns the state before its own reference'
);
select results_eq(
  $$ select m.id, m.reference_count, m.last_referenced_at from memory.searchable_memories as m
     where m.tenant_id = 'a' order by m.id $$,
  $$ values
     ('00000000-0000-0000-0000-000000000001'::uuid, 2, '2026-01-18Z'::timestamptz),
     ('00000000-0000-0000-0000-000000000002', 1, '2026-01-11Z'),
     ('00000000-0000-0000-0000-000000000003', 1, '2026-01-11Z'),
     ('00000000-0000-0000-0000-000000000004', 1, '2026-01-11Z') $$,
  'recall counts no reference to a memory that it does not return'
);
select memory_test.as_tenant('counted');
insert into memory.episodes (tenant_id, butler, content, importance, created_at, expires_at)
select 'counted', 'home', v.content, v.importance, v.created_at, null
from (values ('tea first', 9, '2026-01-02Z'::timestamptz), ('tea second', 1, '2026-01-01Z')) as v (content, importance, created_at);
insert into memory.facts (tenant_id, subject, predicate, content, importance, created_at)
select 'counted', 's', v.content, v.content, v.importance, v.created_at
from (values ('tea first', 9, '2026-01-02Z'::timestamptz), ('tea second', 1, '2026-01-01Z')) as v (content, importance, created_at);
insert into memory.rules (tenant_id, content, importance, created_at)
select 'counted', v.content, v.importance, v.created_at
from (values ('tea first', 9, '2026-01-02Z'::timestamptz), ('tea second', 1, '2026-01-01Z')) as v (content, importance, created_at);
select m.content
from unnest('{episode,fact,rule}'::text[]) as t (type)
cross join lateral memory.recall(
  'tea', types => array[t.type], max_results => 1, as_of => '2026-01-05Z'
) as m \g /dev/null
select results_eq(
  $$ select m.memory_type, m.content, m.reference_count, m.last_referenced_at from memory.searchable_memories as m
     where m.tenant_id = 'counted' order by 1, 2 $$,
  $$ values
     ('episode', 'tea first', 1, '2026-01-05Z'::timestamptz), ('episode', 'tea second', 0, null),
     ('fact', 'tea first', 1, '2026-01-05Z'), ('fact', 'tea second', 0, null),
     ('rule', 'tea first', 1, '2026-01-05Z'), ('rule', 'tea second', 0, null) $$,
  'recall counts only the returned memories of each type'
);
select m.content from memory.recall('tea', max_results => 6, as_of => '2026-01-03Z') as m \g /dev/null
select results_eq(
  $$ select m.content, m.reference_count, m.last_referenced_at from memory.searchable_memories as m
     where m.tenant_id = 'counted' order by m.content, m.memory_type $$,
  $$ values
     ('tea first', 2, '2026-01-05Z'::timestamptz), ('tea first', 2, '2026-01-05Z'),
     ('tea first', 2, '2026-01-05Z'), ('tea second', 1, '2026-01-03Z'), ('tea second', 1, '2026-01-03Z'),
     ('tea second', 1, '2026-01-03Z') $$,
  'a recall as of an earlier time counts and keeps the time of a later reference'
);
select memory_test.as_tenant('a');
select is_empty(
  $$ select m.id from memory.recall('nothing of the kind', as_of => '2026-01-18Z') as m $$,
  'recall of a topic without memories returns nothing'
);
select is(
  (select sum(m.reference_count) from memory.searchable_memories as m where m.tenant_id = 'a'), 5::bigint,
  'recall that returns nothing counts nothing'
);

-- A read-only transaction

savepoint before_reading;
set local transaction_read_only = on;
select m.predicate as read_only_answer
from memory.recall(
  'tea', types => '{fact}', max_results => 1, embedding => memory_test.axis(1), as_of => '2026-01-18Z'
) as m \gset
release savepoint before_reading;
select is(:'read_only_answer'::text, 'relevant', 'recall works in a read-only transaction');
select is(
  (select sum(m.reference_count) from memory.searchable_memories as m where m.tenant_id = 'a'), 5::bigint,
  'recall in a read-only transaction counts no references'
);

-- The time

select lives_ok(
  $$ select memory.rank_memories('tea', as_of => now() + interval '10 years') $$,
  'rank_memories may look into the future'
);
select results_eq(
  $$ select m.recency < 1e-6
     from memory.rank_memories(
       'tea', types => '{fact}', min_confidence => 0, as_of => now() + interval '10 years'
     ) as m $$,
  $$ values (true), (true) $$,
  'rank_memories in the future returns the recency of that time'
);
select throws_ok(
  $$ select * from memory.recall('tea', as_of => now() + interval '2 days') $$, 'PM002', null,
  'recall in the future is refused'
);
select lives_ok(
  $$ select * from memory.recall('tea', as_of => now() + interval '1 hour') $$,
  'recall accepts a clock that is an hour ahead'
);
select throws_ok(
  format('select * from memory.%s(''tea'', as_of => %L)', f.name, t.value), 'PM002', null,
  format('%s at the time %s is refused', f.name, coalesce(t.value, 'NULL'))
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join unnest('{null,infinity,-infinity}'::text[]) with ordinality as t (value, position)
order by f.position, t.position;

-- Settings

select memory_test.as_tenant('pool');
select memory.configure('{"ranking": "specified"}') \g /dev/null
select memory.register_embedding_version('model', '1') as pool_version_id \gset
-- Thirty memories, the least relevant the most important.
insert into memory.rules
  (tenant_id, scope, content, importance, confidence, created_at, embedding, embedding_version_id)
select
  'pool', lpad(n::text, 2, '0'), 'tea', case when n = 30 then 10 when n = 3 then 5 else 0 end, 1,
  '2026-01-01Z', memory_test.near(1 - n / 100.0), :'pool_version_id'
from generate_series(1, 30) as n;
select results_eq(
  $$ select m.scope from memory.rank_memories(
       '', max_results => 30, embedding => memory_test.axis(1), as_of => '2026-01-01Z'
     ) as m
     limit 1 $$,
  $$ values ('30') $$,
  'among thirty candidates importance chooses the last'
);
select results_eq(
  $$ select m.scope, m.semantic_rank, m.rrf_score
     from memory.rank_memories(
       '', max_results => 3, embedding => memory_test.axis(1), as_of => '2026-01-01Z'
     ) as m
     limit 1 $$,
  $$ values ('03', 3::bigint, 1.0::float8 / 63 + 1.0::float8 / 64) $$,
  'the lists are three deep for three results, and a missing rank is four'
);
select results_eq(
  $$ select count(*), min(m.rrf_score)
     from memory.rank_memories(
       '', max_results => 5, embedding => memory_test.axis(1), as_of => '2026-01-01Z'
     ) as m $$,
  $$ values (5::bigint, 1.0::float8 / 65 + 1.0::float8 / 66) $$,
  'the lists are as deep as max_results'
);
select memory.configure('{"weight_relevance": 1, "weight_importance": 0}') \g /dev/null
select results_eq(
  $$ select m.scope, m.score
     from memory.rank_memories(
       '', max_results => 20, embedding => memory_test.axis(1), as_of => '2026-01-01Z'
     ) as m
     limit 1 $$,
  $$ values ('01', 1.0 * ((1.0::float8 / 61 + 1.0::float8 / 81) * 61 / 2.0) + 0.1::float8) $$,
  'the weights of relevance and importance are settings'
);
select memory.configure('{"weight_relevance": 0, "weight_recency": 1, "weight_confidence": 0}') \g /dev/null
update memory.rules as r set last_referenced_at = '2026-01-01Z' where r.tenant_id = 'pool' and r.scope = '07';
update memory.rules as r set confidence = 0.5
where r.tenant_id = 'pool' and r.scope in ('07', '08');
select results_eq(
  $$ select m.scope, m.score
     from memory.rank_memories(
       '', max_results => 20, embedding => memory_test.axis(1), as_of => '2026-01-08Z'
     ) as m
     limit 1 $$,
  $$ values ('07', exp(-ln(2.0::float8) / 7 * 7)) $$,
  'the weight of recency is a setting'
);
select memory.configure('{"recency_half_life_days": 14}') \g /dev/null
select results_eq(
  $$ select m.scope, m.recency
     from memory.rank_memories(
       '', max_results => 20, embedding => memory_test.axis(1), as_of => '2026-01-15Z'
     ) as m
     limit 1 $$,
  $$ values ('07', exp(-ln(2.0::float8) / 14 * 14)) $$,
  'the half-life of recency is a setting'
);
select memory.configure('{"weight_recency": 0, "weight_confidence": 1, "rrf_k": 10}') \g /dev/null
update memory.rules as r set confidence = 0.9 where r.tenant_id = 'pool' and r.scope <> '09';
select results_eq(
  $$ select m.scope, m.score, m.rrf_score, m.relevance
     from memory.rank_memories(
       '', max_results => 20, embedding => memory_test.axis(1), as_of => '2026-01-01Z'
     ) as m
     limit 1 $$,
  $$ values (
    '09', 1.0::float8, 1.0::float8 / 69 + 1.0::float8 / 81,
    (1.0::float8 / 69 + 1.0::float8 / 81) * 61 / 2.0
  ) $$,
  'the weight of confidence is a setting, and rank fusion keeps the specified constant'
);

select memory.configure('{"ranking": "calibrated"}') \g /dev/null
select is(
  (select count(*) from memory.rank_memories('tea for two', min_relevance => 0, as_of => '2026-01-01Z')),
  10::bigint, 'any word of the topic is enough to be found'
);
select memory.configure('{"keyword_match": "all"}') \g /dev/null
select is_empty(
  $$ select m.* from memory.rank_memories('tea for two', min_relevance => 0, as_of => '2026-01-01Z') as m $$,
  'with keyword_match at all, every word of the topic is required'
);
select memory.configure('{"ranking": "specified", "keyword_match": "any"}') \g /dev/null
select is_empty(
  $$ select m.* from memory.rank_memories('tea for two', as_of => '2026-01-01Z') as m $$,
  'the specified ranking requires every word of the topic'
);

-- A memory that was never referenced

select memory_test.as_tenant('fresh');
select memory.store_rule('tea', 'old', as_of => '2026-01-01Z') as old_id \gset
select memory.store_rule('tea', 'new', as_of => '2026-01-08Z') as new_id \gset
update memory.rules as r set last_referenced_at = '2026-01-15Z' where r.id = :'old_id';
select results_eq(
  $$ select m.scope, m.recency
     from memory.rank_memories('tea', as_of => '2026-01-15Z') as m order by m.scope $$,
  $$ values ('new', 0::float8), ('old', 1) $$,
  'the recency of a memory that was never referenced is 0'
);
select memory.configure('{"recency_null": "created_at"}') \g /dev/null
select results_eq(
  $$ select m.scope, m.recency
     from memory.rank_memories('tea', as_of => '2026-01-15Z') as m order by m.scope $$,
  $$ values ('new', exp(-ln(2.0::float8) / 7 * 7)), ('old', 1) $$,
  'recency may count from creation if the setting says so'
);

-- Confidence

select memory_test.as_tenant('confident');
insert into memory.rules (tenant_id, scope, content, confidence, decay_rate, created_at)
values
('confident', 'none', 'tea', 0, 0, '2026-01-01Z'), ('confident', 'little', 'tea', 0.19, 0, '2026-01-01Z'),
('confident', 'enough', 'tea', 0.2, 0, '2026-01-01Z'), ('confident', 'all', 'tea', 1, 0, '2026-01-01Z'),
('confident', 'faded', 'tea', 1, 0.01, '2020-01-01Z');
select results_eq(
  $$ select m.scope from memory.rank_memories('tea', as_of => '2026-01-02Z') as m order by 1 $$,
  $$ values ('all'), ('enough') $$,
  'a memory with less confidence than 0.2 is not recalled'
);
select results_eq(
  $$ select m.scope from memory.rank_memories('tea', min_confidence => 0, as_of => '2026-01-02Z') as m
     order by 1 $$,
  $$ values ('all'), ('enough'), ('faded'), ('little'), ('none') $$,
  'a call may lower min_confidence'
);
select results_eq(
  $$ select m.scope from memory.recall('tea', min_confidence => 0.5, as_of => '2026-01-02Z') as m $$,
  $$ values ('all') $$,
  'a call may raise min_confidence'
);
select memory.configure('{"min_confidence": 0.19}') \g /dev/null
select results_eq(
  $$ select m.scope from memory.recall('tea', as_of => '2026-01-02Z') as m order by 1 $$,
  $$ values ('all'), ('enough'), ('little') $$,
  'min_confidence is a setting'
);
select throws_ok(
  format('select * from memory.%s(''tea'', min_confidence => %L)', f.name, n.value), 'PM002', null,
  format('%s with a min_confidence of %s is refused', f.name, n.value)
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join unnest('{-0.1,1.1,NaN}'::text[]) with ordinality as n (value, position)
order by f.position, n.position;

-- Ties

select memory_test.as_tenant('tied');
insert into memory.rules (tenant_id, id, content, scope, confidence, decay_rate, created_at)
select 'tied', v.id, 'tea', v.name, 1, 0, v.created_at
from (values
  ('00000000-0000-0000-0000-000000000006'::uuid, 'second', '2026-01-02Z'::timestamptz),
  ('00000000-0000-0000-0000-000000000005', 'first', '2026-01-02Z'),
  ('00000000-0000-0000-0000-000000000001', 'older', '2026-01-01Z'),
  ('00000000-0000-0000-0000-000000000009', 'newest', '2026-01-03Z')
) as v (id, name, created_at);
select memory.configure('{"weight_relevance": 0}') \g /dev/null
select results_eq(
  $$ select m.scope from memory.rank_memories('tea', as_of => '2026-01-04Z') as m $$,
  $$ values ('newest'), ('first'), ('second'), ('older') $$,
  'equal scores are ordered by age, newest first, and then by id'
);
insert into memory.facts
  (tenant_id, id, subject, predicate, content, scope, confidence, permanence, decay_rate, created_at)
values (
  'tied', '00000000-0000-0000-0000-000000000007', 's', 'p', 'tea', 'fact', 1, 'permanent', 0, '2026-01-03Z'
);
insert into memory.episodes (tenant_id, id, butler, content, expires_at, created_at)
values ('tied', '00000000-0000-0000-0000-000000000008', 'episode', 'tea', null, '2026-01-03Z');
select results_eq(
  $$ select m.scope from memory.rank_memories('tea', as_of => '2026-01-04Z') as m $$,
  $$ values ('episode'), ('fact'), ('newest'), ('first'), ('second'), ('older') $$,
  'equal scores of the same age are ordered as episodes, facts, rules'
);
select results_eq(
  $$ select m.scope from memory.recall('tea', max_results => 2, as_of => '2026-01-04Z') as m $$,
  $$ values ('episode'), ('fact') $$,
  'max_results cuts equal scores in the same order'
);

select memory_test.as_tenant('many tied');
insert into memory.rules (tenant_id, content, confidence, decay_rate, created_at)
select 'many tied', repeat('tea ', n % 5 + 1), 1, 0, '2026-01-01Z' from generate_series(1, 40) as n;
select memory.configure('{"weight_relevance": 0}') \g /dev/null
select results_eq(
  $$ select m.id from memory.rank_memories('tea', max_results => 40, as_of => '2026-01-04Z') as m $$,
  $$ select r.id from memory.rules as r where r.tenant_id = 'many tied' order by r.id $$,
  'forty equal scores of the same age are ordered by id'
);

-- Types and scope

select memory_test.as_tenant('tied');
select results_eq(
  $$ select m.scope from memory.recall('tea', types => '{fact,episode}', as_of => '2026-01-04Z') as m
     order by 1 $$,
  $$ values ('episode'), ('fact') $$,
  'recall returns only the requested types'
);
select throws_ok(
  format('select * from memory.%s(''tea'', types => %L)', f.name, t.types), 'PM002', null,
  format('%s of the types %s is refused', f.name, t.types)
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join unnest(array['{}', '{link}', '{fact,NULL}']) with ordinality as t (types, position)
order by f.position, t.position;
insert into memory.rules (tenant_id, content, confidence) values ('tied', 'tea', 1);
select results_eq(
  $$ select m.memory_type, m.scope from memory.recall('tea', scope => 'fact') as m order by 1, 2 $$,
  $$ values ('fact', 'fact'), ('rule', 'global') $$,
  'recall returns only memories of the scope and global ones'
);
select results_eq(
  $$ select m.memory_type, m.scope from memory.recall('tea', scope => 'episode') as m order by 1, 2 $$,
  $$ values ('episode', 'episode'), ('rule', 'global') $$,
  'the scope of an episode is its butler'
);
select is(
  (select count(*) from memory.recall('tea', scope => null)), 7::bigint,
  'recall without a scope returns memories of every scope'
);

-- Other arguments

select throws_ok(
  format('select * from memory.%s(''tea'', max_results => %s)', f.name, coalesce(n.value, 'null')),
  'PM002', null, format('%s of %s results is refused', f.name, coalesce(n.value, 'NULL'))
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join unnest('{0,-1,null}'::text[]) with ordinality as n (value, position)
order by f.position, n.position;
select throws_ok(
  format('select * from memory.%s(%s)', f.name, a.arguments), 'PM002', null,
  format('%s with %s is refused', f.name, a.what)
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join (values
  (1, $$repeat('x', 65537)$$, 'a topic longer than 64 KiB'),
  (2, $$'tea', embedding => '[1,2,3]'$$, 'a short vector'),
  (3, $$'tea', embedding => array_fill(0, array[384])::vector$$, 'a zero vector')
) as a (position, arguments, what)
order by f.position, a.position;
select lives_ok(
  $$ select memory.rank_memories(rpad(repeat('word ', 13107), 65536, 'x')) $$,
  'a topic of 64 KiB is answered'
);
select is_empty(
  $$ select * from memory.rank_memories(null) $$, 'a NULL topic finds nothing'
);
select throws_ok(
  format(
    'select * from memory.%s(''tea'', embedding => memory_test.axis(1), embedding_version_id => %L)',
    f.name, v.id
  ),
  'PM004', null, format('%s with a vector of %s is refused', f.name, v.what)
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
cross join (values
  (1, :'version_id', 'the version of another tenant'),
  (2, '00000000-0000-0000-0000-000000000001', 'an unknown version')
) as v (position, id, what)
order by f.position, v.position;
select memory_test.as_tenant('pool');
select memory.configure('{"ranking": "specified"}') \g /dev/null
select is(
  (
    select count(*) from memory.rank_memories(
      'tea', max_results => 1000000000, embedding => memory_test.axis(1),
      embedding_version_id => :'pool_version_id', as_of => '2026-01-01Z'
    )
  ),
  30::bigint, 'a billion requested results return all that there are'
);
select is(
  (select count(*) from memory.rank_memories('tea', as_of => '2026-01-01Z')), 10::bigint,
  'ten results are the default'
);
select memory_test.as_tenant('stranger');
select is_empty(
  $$ select * from memory.recall('tea', embedding => memory_test.axis(1), min_confidence => 0) $$,
  'recall finds nothing of another tenant'
);
select memory_test.as_tenant('');
select throws_ok(
  format('select * from memory.%s(''tea'')', f.name), '28000', 'this transaction names no tenant',
  format('%s without a tenant is refused', f.name)
)
from unnest('{rank_memories,recall}'::text[]) with ordinality as f (name, position)
order by f.position;

select * from finish();
rollback;
