-- Questions about the past: what held before, in the place of what holds.
begin;
\ir fixtures.sql
select plan(41);

create function memory_test.answers(question text, at timestamptz default '2026-11-01Z', scope text default null)
  returns text[]
  language sql
  as $$
    select array_agg(r.content || coalesce(' until ' || r.valid_to::date, '') order by r.position)
    from memory.rank_memories(question, answers.scope, min_relevance => 0.01, as_of => at) with ordinality as r (
      memory_type, id, scope, subject, predicate, content, importance, confidence, effective_confidence, permanence,
      maturity, effectiveness_score, entity_id, session_id, tags, metadata, created_at, last_confirmed_at,
      last_referenced_at, reference_count, planned_for, valid_to, similarity, semantic_rank, keyword_score, keyword_rank,
      rrf_score, meaning, words, neighbor_boost, session_boost, named_boost, time_boost, relevance, recency, updates_id,
      score, position
    );
  $$;
select memory_test.share_results() \g /dev/null

select is(memory.asks_past(r.query), r.expected, r.what || ': ' || r.query)
from (
  select f.expected, f.what, c.query, f.position, c.number
  from (values
    (
      1, true, 'a question asks about the past',
      '{Where did I live before?,What was my old phone number?,Where did Ada use to work?,My previous job,Ada''s old address,
        Wo habe ich früher gewohnt?,Was war meine alte Nummer?,Où habitais-je avant ?,Mon ancien numéro,
        ¿Dónde vivía Ana antes?,Mi antiguo número}'
    ),
    (
      2, false, 'a question asks for what holds',
      '{Where do I live?,How old is Ada?,Is she getting used to rain?,Früher oder später?,old,before noon,""}'
    )
  ) as f (position, expected, what, queries)
  cross join unnest(f.queries::text[]) with ordinality as c (query, number)
) as r
order by r.position, r.number;
select is(memory.asks_past(null), false, 'a NULL question does not ask about the past');

select memory.store_fact('user', 'lives in', k.city, as_of => k.since)
from (values
  ('Bern', timestamptz '2026-01-01Z'), ('Basel', '2026-03-01Z'), ('Chur', '2026-06-01Z')
) as k (city, since)
order by k.since \g /dev/null
select memory.store_fact('user', 'lives with', 'a cat', importance => 0, as_of => '2026-06-01Z') as cat \gset
select is(
  memory_test.answers('Where do I live in?'), '{Chur,"a cat"}',
  'a question for what holds finds nothing that is over'
);
select is(
  memory_test.answers('Where did I live in before?'),
  '{"Basel until 2026-06-01","Bern until 2026-03-01",Chur,"a cat"}',
  'a question about the past finds what held before, the last first, before what holds'
);
select is(
  memory_test.answers('Where did I live in April 2026?'), '{"Basel until 2026-06-01",Chur,"a cat"}',
  'a question about a time that is over finds what held then before what holds'
);
select is(
  memory_test.answers('Where did I live from February to April?'),
  '{"Basel until 2026-06-01","Bern until 2026-03-01",Chur,"a cat"}',
  'all that held in a time is found'
);
select is(
  memory_test.answers('Where did I live in July 2026?'), '{Chur,"a cat"}',
  'what holds since a time that is asked for answers alone'
);
select is(
  memory_test.answers('Where do I live this year?'), '{Chur,"a cat"}', 'a time that is not over asks for what holds'
);
select results_eq(
  $$ select m.content from memory.search('Where did I live before?', max_results => 2, as_of => '2026-11-01Z') as m $$,
  $$ values ('Basel'), ('Bern') $$,
  'searches find what is over as well, within their limit'
);
select is_empty(
  $$ select m.id from memory.search('Where did I live before?', '{rule}', as_of => '2026-11-01Z') as m $$,
  'a search for other types finds no facts'
);
select results_eq(
  $$ select count(*), count(distinct (m.relevance, m.score)), count(distinct m.effective_confidence)
     from memory.rank_memories('Where did I live in before?', as_of => '2026-11-01Z') as m
     where m.predicate = 'lives in' $$,
  $$ values (3::bigint, 1::bigint, 3::bigint) $$,
  'what is over has the scores of what took its place, and the confidence of when it ended'
);
select results_eq(
  $$ select e.position, e.outcome, e.content
     from memory.recall_explain('Where did I live in before?', types => '{fact}', as_of => '2026-11-01Z') as e $$,
  $$ values (1::bigint, 'returned', 'Basel'), (2, 'returned', 'Bern'), (3, 'returned', 'Chur'), (4, 'returned', 'a cat') $$,
  'an explanation has what is over once, as returned'
);
select matches(
  memory.context('Where did I live before?', 'b', as_of => '2026-11-01Z'),
  'Basel \(confidence: [0-9.]+, until 2026-06-01\)',
  'a context says until when a fact held'
);
select memory.forget_memory('fact', f.id, as_of => '2026-10-01Z') from memory.facts as f where f.content = 'Bern' \g /dev/null
select is(
  memory_test.answers('Where did I live in before?'), '{"Basel until 2026-06-01",Chur,"a cat"}',
  'what was forgotten stays so'
);
select memory.store_fact('user', 'lives in', 'Davos', scope => 'winter', as_of => '2026-02-01Z') as davos \gset
select memory.store_fact('user', 'lives in', 'Arosa', scope => 'winter', as_of => '2026-02-02Z') as arosa \gset
select is(
  memory_test.answers('Where did I live in before?', scope => 'summer'), '{"Basel until 2026-06-01",Chur,"a cat"}',
  'what is over in another scope is not found'
);
select memory.store_fact(
  'user', 'works at', 'the mill', valid_from => '2020-01-01Z', valid_to => '2022-01-01Z', as_of => '2026-01-01Z'
) as mill \gset
select memory.store_fact('user', 'works at', 'the school', as_of => '2026-10-02Z') as school \gset
select is(
  memory_test.answers('Which employer did I work for at before?', scope => 'summer'),
  '{"the mill until 2022-01-01","the school"}',
  'what was history when it was stored is found as well'
);
select memory.entity_create('Grace Hopper', 'person') as grace \gset
select memory.store_fact('Grace', 'teaches at', 'Vassar', entity_id => :'grace', as_of => '2026-01-01Z') as vassar \gset
select memory.store_fact('she', 'teaches at', 'Yale', entity_id => :'grace', as_of => '2026-10-01Z') as yale \gset
select is(
  memory_test.answers('Where did Grace Hopper previously teach?', scope => 'summer'),
  '{"Vassar until 2026-10-01",Yale}', 'of an entity, what held under another subject is found'
);
select memory.configure('{"boost_time": 0}') \g /dev/null
select is(
  memory_test.answers('Where did I live in before?', scope => 'summer'), '{Chur,"a cat"}',
  'without boost_time, no question asks about the past'
);

select memory_test.as_tenant('unsure') \g /dev/null
select memory.store_fact('user', 'lives in', 'Rome', confidence => 0.5, as_of => '2026-10-01Z') \g /dev/null
select memory.store_fact('user', 'lives in', 'Pisa', as_of => '2026-10-20Z') \g /dev/null
select results_eq(
  format(
    $$ select m.content from memory.search('Where did I live before?', min_confidence => %s, as_of => '2026-11-01Z') as m $$,
    c.min_confidence
  ),
  c.expected, c.what
)
from (values
  (0.2, $$ values ('Rome'), ('Pisa') $$, 'what held before is found'),
  (0.7, $$ values ('Pisa') $$, 'but not below the confidence that is asked for')
) as c (min_confidence, expected, what)
order by c.min_confidence;

select memory_test.as_tenant('ended') \g /dev/null
select memory.store_fact(
  'user', 'stays in', 'Oslo until Friday', valid_to => '2026-11-06Z', as_of => '2026-11-01Z'
) as oslo \gset
select memory.store_fact('user', 'lives in', 'Bergen', as_of => '2026-11-01Z') \g /dev/null
select is(memory_test.answers('Where do I stay?', '2026-11-05Z'), '{"Oslo until Friday until 2026-11-06"}', 'a fact with an end is found until then');
select is(memory_test.answers('Where do I stay?', '2026-11-06Z'), null, 'and not after it, although the daily sweep is still to come');
select results_eq(
  $$ select x.outcome, x.content from memory.recall_explain('Where do I stay?', as_of => '2026-11-06Z') as x $$,
  $$ values ('expired', 'Oslo until Friday') $$, 'an explanation says that it is over'
);
select is(
  array(select m.content from memory.query('stay', as_of => '2026-11-06Z') as m), '{}', 'a query of all types does not find it either'
);
select * from finish();
rollback;
