begin;
\ir fixtures.sql
select plan(41);

-- effective_confidence

select is(
  memory.effective_confidence(0.8, 0, '2000-01-01Z', '2026-01-01Z'), 0.8::float8,
  'a permanent memory keeps its confidence for ever'
);
select is(
  memory.effective_confidence(0.8, 0, null, '2026-01-01Z'), 0.8::float8,
  'a permanent memory keeps its confidence even when never confirmed'
);
select is(
  memory.effective_confidence(0.8, 0.01, null, '2026-01-01Z'), 0.0::float8,
  'a memory that was never confirmed has no confidence'
);
select is(
  memory.effective_confidence(0.8, 0.01, '2026-01-01Z', '2026-01-01Z'), 0.8::float8,
  'a memory just confirmed has its full confidence'
);
select is(
  round(memory.effective_confidence(1, 0.008, '2026-01-01Z', '2026-01-01Z'::timestamptz + '100 days')::numeric, 12),
  round(exp(-0.8)::numeric, 12),
  'confidence decays exponentially with the days since confirmation'
);
select is(
  round(memory.effective_confidence(1, 0.1, '2026-01-01Z', '2026-01-01T12:00Z')::numeric, 12),
  round(exp(-0.05)::numeric, 12),
  'half a day counts as half a day'
);
select is(
  memory.effective_confidence(0.7, 0.1, '2026-01-02Z', '2026-01-01Z'), 0.7::float8,
  'a confirmation that lies ahead does not raise confidence above the stored value'
);
select ok(
  memory.effective_confidence(1, 0.1, '1900-01-01Z', '2026-01-01Z') between 0 and 1e-300,
  'a century of fast decay underflows to nothing instead of raising'
);
select ok(
  memory.effective_confidence(1, 0.1, '0001-01-01Z', '9999-01-01Z') between 0 and 1e-300,
  'ten thousand years of fast decay raise nothing either'
);

-- recency_score

select is(memory.recency_score(null, 7, '2026-01-01Z'), 0.0::float8, 'a memory never referenced has recency 0');
select is(
  memory.recency_score('2026-01-01Z', 7, '2026-01-01Z'), 1.0::float8,
  'a memory referenced this moment has recency 1'
);
select is(
  round(memory.recency_score('2026-01-01Z', 7, '2026-01-08Z')::numeric, 12), 0.5::numeric(13, 12),
  'recency halves in seven days'
);
select is(
  round(memory.recency_score('2026-01-01Z', 7, '2026-01-15Z')::numeric, 12), 0.25::numeric(13, 12),
  'recency halves again in the next seven days'
);
select is(
  round(memory.recency_score('2026-01-01Z', 30, '2026-01-31Z')::numeric, 12), 0.5::numeric(13, 12),
  'the half-life is an argument'
);
select is(
  memory.recency_score('2026-01-09Z', 7, '2026-01-01Z'), 1.0::float8,
  'a reference that lies ahead does not raise recency above 1'
);
select ok(
  memory.recency_score('0001-01-01Z', 7, '9999-01-01Z') between 0 and 1e-300,
  'recency underflows to nothing instead of raising'
);

-- rrf_score, relevance_score

select is(memory.rrf_score(1, 1, 11), 2.0::float8 / 61, 'first in both lists scores 2/61');
select is(
  memory.rrf_score(2, 5, 11), 1.0::float8 / 62 + 1.0::float8 / 65,
  'the score is the sum of the reciprocal ranks'
);
select is(
  memory.rrf_score(1, null, 11), 1.0::float8 / 61 + 1.0::float8 / 71,
  'a memory missing from the keyword list ranks as the missing rank there'
);
select is(
  memory.rrf_score(null, 3, 11), 1.0::float8 / 71 + 1.0::float8 / 63,
  'a memory missing from the semantic list ranks as the missing rank there'
);
select is(memory.rrf_score(1, 1, 11, 10), 2.0::float8 / 11, 'k is an argument');
select is(memory.relevance_score(2.0::float8 / 61), 1.0::float8, 'the best possible fusion has relevance 1');
select is(memory.relevance_score(1), 1.0::float8, 'relevance is capped at 1');
select is(memory.relevance_score(1.0::float8 / 61), 0.5::float8, 'half the best fusion has relevance 0.5');
select is(
  round(memory.relevance_score(r.rrf_score, 60, 21)::numeric, 9), r.expected,
  'over the range ' || r.what
)
from (values
  (1, 2.0::float8 / 61, 1.000000000, 'the best fusion has relevance 1'),
  (2, 2.0::float8 / 81, 0.000000000, 'a memory in neither list has none'),
  (3, 1.0::float8 / 61 + 1.0::float8 / 81, 0.500000000, 'the first of one list has half'),
  (4, 0.0::float8, 0.000000000, 'there is no less than none'),
  (5, 1.0::float8, 1.000000000, 'and no more than 1')
) as r (position, rrf_score, expected, what)
order by r.position;
select is(memory.relevance_score(2.0::float8 / 11, 10), 1.0::float8, 'relevance is relative to the best for its k');

-- composite_score

select is(
  round(memory.composite_score(1, 10, 1, 1)::numeric, 12), 1.0::numeric(13, 12),
  'a memory perfect in every part scores 1'
);
select is(memory.composite_score(0, 0, 0, 0), 0.0::float8, 'a memory with nothing to say for it scores 0');
select is(memory.composite_score(1, 0, 0, 0), 0.4::float8, 'relevance weighs 0.4');
select is(memory.composite_score(0, 10, 0, 0), 0.3::float8, 'importance weighs 0.3, its range being 0 to 10');
select is(memory.composite_score(0, 0, 1, 0), 0.2::float8, 'recency weighs 0.2');
select is(memory.composite_score(0, 0, 0, 1), 0.1::float8, 'effective confidence weighs 0.1');
select is(
  memory.composite_score(0.5, 5, 0.5, 0.5, 1, 2, 3, 4), 5.0::float8,
  'the weights are arguments'
);

-- Decay of the permanences

select results_eq(
  $$ select p, memory.decay_rate_of(p)
     from unnest('{permanent,stable,standard,volatile,ephemeral}'::text[]) as p $$,
  $$ values ('permanent', 0.0::float8), ('stable', 0.002), ('standard', 0.008), ('volatile', 0.03), ('ephemeral', 0.1) $$,
  'each permanence has its decay rate'
);
select is(memory.decay_rate_of('eternal'), null, 'an unknown permanence has none');

-- Purity

select is_empty(
  $$ select p.oid::regprocedure from pg_proc as p
     where p.pronamespace = 'memory'::regnamespace
       and p.proname in (
         'effective_confidence', 'recency_score', 'rrf_score', 'relevance_score', 'composite_score',
         'days_between', 'decay_rate_of'
       )
       and (p.provolatile <> 'i' or p.proparallel <> 's') $$,
  'the formulas are immutable and parallel safe'
);
select is_empty(
  $$ select 1 from (
       select
         (random() * 2e9)::bigint as seconds, random() as confidence, random() * 0.2 as decay_rate,
         random() * 10 as importance
       from generate_series(1, 20000)
     ) as r
     where memory.composite_score(
       memory.relevance_score(memory.rrf_score(null, null, 1)), r.importance,
       memory.recency_score(to_timestamp(r.seconds), 7, '2026-01-01Z'),
       memory.effective_confidence(r.confidence, r.decay_rate, to_timestamp(r.seconds), '2026-01-01Z')
     ) not between 0 and 1 $$,
  'twenty thousand random memories score between 0 and 1, none NaN'
);

select * from finish();
rollback;
