begin;
\ir fixtures.sql
select plan(20);

select memory.register_embedding_version('model', '1') as version_id \gset
insert into memory.facts
  (tenant_id, id, subject, predicate, content, scope, importance, validity, confidence, permanence, decay_rate,
   created_at, last_referenced_at, embedding, embedding_version_id)
select
  'a', lpad(v.id::text, 32, '0')::uuid, v.name, 'drinks', v.content, v.scope, v.importance, v.validity, v.confidence, 'permanent', 0,
  '2026-01-01Z', v.referenced_at::timestamptz, memory_test.near(v.similarity), :'version_id'
from (values
  (1, 'near', 'tea', 'home', 5, 'active', 0.9, 0.95, null),
  (2, 'important', 'tea', 'global', 10, 'active', 0.9, 0.80, '2026-01-08Z'),
  (3, 'third', 'milk', 'home', 1, 'active', 0.9, 0.70, null),
  (4, 'elsewhere', 'tea', 'work', 5, 'active', 0.9, 0.99, null),
  (5, 'faint', 'tea', 'home', 5, 'active', 0.1, 0.98, null),
  (6, 'forgotten', 'tea', 'home', 5, 'retracted', 0.9, 0.97, null),
  (7, 'superseded', 'tea', 'home', 5, 'superseded', 0.9, 0.96, null),
  (8, 'expired', 'tea', 'home', 5, 'expired', 0.9, 0.95, null),
  (9, 'forgotten and far', 'wine', 'home', 5, 'retracted', 0.9, 0.10, null)
) as v (id, name, content, scope, importance, validity, confidence, similarity, referenced_at);
create view memory_test.explained as
select m.*
from memory.recall_explain(
  'tea', 'home', 2, embedding => memory_test.axis(1), as_of => '2026-01-15Z'
) as m;
create view memory_test.ranked as
select m.*
from memory.rank_memories(
  'tea', 'home', 2, embedding => memory_test.axis(1), as_of => '2026-01-15Z'
) as m;

select results_eq(
  $$ select x.position, x.outcome, x.subject from memory_test.explained as x $$,
  $$ values
     (1::bigint, 'returned', 'important'), (2, 'returned', 'near'), (null, 'beyond limit', 'third'),
     (null, 'below confidence', 'faint'), (null, 'expired', 'expired'), (null, 'forgotten', 'forgotten'),
     (null, 'other scope', 'elsewhere'),
     (null, 'superseded', 'superseded') $$,
  'what recall returns comes in order, then other candidates, then what was dropped and why'
);
select results_eq(
  $$ select
       x.memory_type, x.id, x.scope, x.subject, x.predicate, x.content, x.similarity, x.semantic_rank, x.keyword_score,
       x.keyword_rank, x.rrf_score, x.meaning, x.words, x.neighbor_boost, x.session_boost, x.named_boost,
       x.time_boost, x.updates_id, x.relevance, x.importance,
       x.recency, x.effective_confidence, x.score
     from memory_test.explained as x where x.position is not null $$,
  $$ select
       m.memory_type, m.id, m.scope, m.subject, m.predicate, m.content, m.similarity, m.semantic_rank, m.keyword_score,
       m.keyword_rank, m.rrf_score, m.meaning, m.words, m.neighbor_boost, m.session_boost, m.named_boost,
       m.time_boost, m.updates_id, m.relevance, m.importance,
       m.recency, m.effective_confidence, m.score
     from memory_test.ranked as m $$,
  'what recall returns is explained with the same scores'
);
select is(
  round(x.score::numeric, 12),
  round(((40 * 0.4 * x.relevance + 0.3 * x.importance / 10 + 0.2 * x.recency + 0.1 * x.effective_confidence)
  / (40 * 0.4 + 0.6))::numeric, 12),
  format('the weighted parts of %s add up to its score', x.subject)
)
from memory_test.explained as x where x.position <= 2
order by x.position;
select is((select x.recency from memory_test.explained as x where x.position = 1), 0.5::float8,
  'recency is shown as it counts in the score');
select results_eq(
  $$ select round(x.similarity::numeric, 2), x.keyword_score > 0, x.semantic_rank, x.score, x.effective_confidence
     from memory_test.explained as x where x.subject = 'faint' $$,
  $$ values (0.98, true, null::bigint, null::float8, 0.1::float8) $$,
  'a dropped memory shows what is known of it, and no rank'
);
select results_eq(
  $$ select x.position, x.outcome, x.subject, x.meaning > 0, x.words > 0, x.relevance >= 0.75
     from memory.recall_explain(
       'tea', 'home', 1, min_relevance => 0.75, embedding => memory_test.axis(1), as_of => '2026-01-15Z'
     ) as x
     where x.outcome in ('returned', 'beyond limit', 'below relevance') $$,
  $$ values
     (1::bigint, 'returned', 'near', true, true, true), (null, 'beyond limit', 'important', true, true, true),
     (null, 'below relevance', 'third', true, null, false) $$,
  'a memory below the minimum relevance is shown with its relevance'
);
select results_eq(
  $$ select x.position, x.outcome, x.subject, x.similarity < 0.2, x.relevance < 0.06
     from memory.recall_explain(
       'spaceships', 'home', embedding => memory_test.axis(3), as_of => '2026-01-15Z'
     ) as x
     where x.outcome not in ('forgotten', 'superseded', 'expired', 'other scope', 'below confidence') $$,
  $$ values
     (null::bigint, 'no match', 'near', true, true), (null, 'no match', 'important', true, true),
     (null, 'no match', 'third', true, true) $$,
  'recall_explain shows the candidates even if none of them matches'
);
select memory.configure('{"boost_named": 0.2}') \g /dev/null
select results_eq(
  $$ select x.subject, x.named_boost, x.neighbor_boost, x.session_boost, x.time_boost, x.relevance between 0 and 1
     from memory.recall_explain(
       'tea of near', 'home', embedding => memory_test.axis(1), as_of => '2026-01-15Z'
     ) as x
     where x.position is not null
     order by x.subject $$,
  $$ values
     ('important', 0::float8, 0::float8, 0::float8, 0::float8, true), ('near', 0.2, 0, 0, 0, true),
     ('third', 0, 0, 0, 0, true) $$,
  'recall_explain shows the boosts'
);
select results_eq(
  $$ select x.subject, x.keyword_score is not null, num_nulls(x.keyword_rank, x.words, x.relevance, x.score)
     from memory_test.explained as x where x.outcome = 'superseded' $$,
  $$ values ('superseded', true, 4) $$,
  'a dropped memory shows the rank of its words and no relevance'
);
select memory.configure('{"ranking": "specified"}') \g /dev/null
select results_eq(
  $$ select x.outcome, x.subject
     from memory.recall_explain(
       'tea', 'home', 1, embedding => memory_test.axis(1), as_of => '2026-01-15Z'
     ) as x $$,
  $$ values
     ('returned', 'near'), ('other scope', 'elsewhere') $$,
  'a memory beyond the end of both lists is left out'
);
select results_eq(
  $$ select x.position, x.outcome, x.subject, x.semantic_rank, x.keyword_rank
     from memory_test.explained as x where x.outcome in ('returned', 'beyond limit', 'below relevance') $$,
  $$ select m.position, 'returned', m.subject, m.semantic_rank, m.keyword_rank
     from (select r.*, row_number() over () as position from memory_test.ranked as r) as m $$,
  'with the ranking "specified" the ranks in both lists are shown'
);

-- Expired episodes and forgotten rules
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at)
values ('a', 'home', 'tea', '2026-01-01Z', '2026-01-08Z');
select memory.store_rule('tea', as_of => '2026-01-01Z') as rule_id \gset
select memory.forget_memory('rule', :'rule_id', as_of => '2026-01-02Z') \g /dev/null
select results_eq(
  $$ select x.outcome, x.memory_type
     from memory.recall_explain('tea', types => '{episode,rule}', as_of => '2026-01-15Z') as x $$,
  $$ values ('expired', 'episode'), ('forgotten', 'rule') $$,
  'expired episodes and forgotten rules are shown'
);
select is_empty(
  $$ select * from memory.recall_explain('coffee', types => '{episode,rule}', as_of => '2026-01-15Z') $$,
  'expired episodes and forgotten rules are shown only if they match'
);
select is(
  (select count(*) from memory.facts as f where f.reference_count > 0), 0::bigint,
  'recall_explain counts no references'
);
select memory_test.as_tenant('b');
select is_empty(
  $$ select * from memory.recall_explain('tea', embedding => memory_test.axis(1), as_of => '2026-01-15Z') $$,
  'another tenant gets no explanation'
);
select throws_ok(
  format('select * from memory.recall_explain(%s)', b.arguments), 'PM002', null,
  format('recall_explain(%s) is refused', b.arguments)
)
from unnest(array[
  $$'tea', max_results => 0$$, $$'tea', types => '{link}'$$, $$'tea', min_confidence => 'NaN'$$
]) with ordinality as b (arguments, position)
order by b.position;

select memory_test.as_tenant('at the limit');
select memory.store_fact('Ada', 'drinks', 'tea', confidence => 0.5, permanence => 'permanent', as_of => '2026-01-01Z') \g /dev/null
select results_eq(
  $$ select x.outcome from memory.recall_explain('tea', min_confidence => 0.5, as_of => '2026-03-01Z') as x $$,
  $$ values ('returned') $$, 'a memory with the confidence that is asked for is returned, and not dropped as well'
);

select * from finish();
rollback;
