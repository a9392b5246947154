begin;
\ir fixtures.sql
select plan(167);

-- effective_confidence

select is(
  memory.effective_confidence(0.8, 0, '2000-01-01Z', '2026-01-01Z'), 0.8::float8,
  'a permanent memory keeps its confidence forever'
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
  'a confirmation in the future does not raise confidence above the stored value'
);
select ok(
  memory.effective_confidence(1, 0.1, '1900-01-01Z', '2026-01-01Z') between 0 and 1e-300,
  'a century of fast decay underflows to nothing without an error'
);
select ok(
  memory.effective_confidence(1, 0.1, '0001-01-01Z', '9999-01-01Z') between 0 and 1e-300,
  'ten thousand years of fast decay raise no error'
);

-- recency_score

select is(
  memory.recency_score(null, 7, '2026-01-01Z'), 0.0::float8,
  'a memory that was never referenced has recency 0'
);
select is(
  memory.recency_score('2026-01-01Z', 7, '2026-01-01Z'), 1.0::float8,
  'a memory referenced at this moment has recency 1'
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
  'the half-life of recency is an argument'
);
select is(
  memory.recency_score('2026-01-09Z', 7, '2026-01-01Z'), 1.0::float8,
  'a reference in the future does not raise recency above 1'
);
select ok(
  memory.recency_score('0001-01-01Z', 7, '9999-01-01Z') between 0 and 1e-300,
  'recency underflows to nothing without an error'
);

-- rrf_score, relevance_score

select is(memory.rrf_score(1, 1, 11), 2.0::float8 / 61, 'a memory first in both lists scores 2/61');
select is(
  memory.rrf_score(2, 5, 11), 1.0::float8 / 62 + 1.0::float8 / 65,
  'the fused score is the sum of the reciprocal ranks'
);
select is(
  memory.rrf_score(1, null, 11), 1.0::float8 / 61 + 1.0::float8 / 71,
  'a memory missing from the keyword list gets the missing rank there'
);
select is(
  memory.rrf_score(null, 3, 11), 1.0::float8 / 71 + 1.0::float8 / 63,
  'a memory missing from the semantic list gets the missing rank there'
);
select is(
  memory.rrf_score(1, 1, 11, 10), 2.0::float8 / 11,
  'the constant k of rank fusion is an argument'
);
select is(memory.relevance_score(2.0::float8 / 61), 1.0::float8, 'the best possible fusion has relevance 1');
select is(memory.relevance_score(1), 1.0::float8, 'relevance is capped at 1');
select is(memory.relevance_score(1.0::float8 / 61), 0.5::float8, 'half the best fusion has relevance 0.5');
select is(
  memory.relevance_score(2.0::float8 / 11, 10), 1.0::float8,
  'relevance is relative to the best possible fusion for its k'
);

-- meaning_score, words_score

select is(
  round(memory.meaning_score(v.similarity)::numeric, 12), round(v.expected, 12),
  format('a cosine similarity of %s %s', coalesce(v.similarity::text, 'NULL'), v.what)
)
from (values
  (1, -1::float8, 0.0, 'has meaning 0'), (2, 0, 0, 'has meaning 0'),
  (
    3, 0.05, 0, 'is the floor of meaning'), (4, 0.4, 0.5, 'has meaning 0.5'), (5, 0.75, 1,
    'has meaning 1'
  ),
  (6, 1, 1, 'has meaning 1'), (7, null, null, 'has a NULL meaning')
) as v (position, similarity, expected, what)
order by v.position;
select is(
  round(memory.meaning_score(v.similarity, 0.2, 0.6)::numeric, 12), round(v.expected, 12),
  format('on another scale a similarity of %s is a meaning of %s', v.similarity, v.expected)
)
from (values (1, 0.2::float8, 0.0), (2, 0.5, 0.75), (3, 0.6, 1)) as v (position, similarity, expected)
order by v.position;
select is(
  round(memory.words_score(v.share)::numeric, 12), round(v.expected, 12),
  format('a share of %s of the possible score %s', coalesce(v.share::text, 'NULL'), v.what)
)
from (values
  (1, 0::float8, 0.0, 'counts 0'), (2, 0.08, 0, 'counts 0, because it may be chance'),
  (3, 0.23, 0.25, 'counts 0.25'),
  (4, 0.38, 0.5, 'counts 0.5'), (5, 0.68, 1, 'counts 1'), (6, 1, 1, 'counts 1'),
  (7, null, null, 'counts NULL')
) as v (position, share, expected, what)
order by v.position;
select is(
  round(memory.words_score(v.share, 0)::numeric, 12), round(v.expected, 12),
  format('in a search of words alone a share of %s counts %s', v.share, v.expected)
)
from (values (1, 0::float8, 0.0), (2, 0.068, 0.1), (3, 0.34, 0.5), (4, 0.68, 1)) as v (position, share, expected)
order by v.position;

-- weigh_evidence

select is(
  round(memory.weigh_evidence(v.meaning, v.words, v.meaning_weight, v.words_weight)::numeric, 12),
  round(v.expected, 12), v.what
)
from (values
  (
    1, 1::float8, null::float8, 0.8::float8, 0.3::float8, 0.8,
    'meaning alone counts at most its weight'
  ),
  (2, 0, 1, 0.8, 0.3, 0.3, 'words count at most their weight next to a vector'),
  (3, 1, 1, 0.8, 0.3, 1, 'meaning and words that both fit entirely leave no doubt'),
  (4, 0.5, 0.5, 0.8, 0.3, 1 - 0.6 * (1 - power(0.3, 0.75) * 0.5), 'words weigh more as meaning fits, too'),
  (5, 0.5, 0.5, 0.5, 0.95, 1 - 0.75 * (1 - 0.95 * 0.5), 'words that weigh more than meaning keep their weight'),
  (6, 1, 1, 0.8, 0, 0.8, 'words without a weight count nothing'),
  (5, 0.5, 0.5, 0.55, 0.95, 0.619375, 'the weights of episodes apply'),
  (6, null, 0.5, 0.8, 0.3, 0.5, 'without a meaning words use the whole scale'),
  (7, null, 1, 0.8, 0.3, 1, 'without a meaning words count at most 1'),
  (8, 0, 0, 0.8, 0.3, 0, 'no meaning and no words are no evidence'),
  (9, null, null, 0.8, 0.3, 0, 'NULL meaning and NULL words are no evidence'),
  (10, 1, 1, 1, 1, 1, 'full meaning and words with full weights count 1')
) as v (position, meaning, words, meaning_weight, words_weight, expected, what)
order by v.position;
select is_empty(
  $$ select 1
     from generate_series(0, 10) as m, generate_series(0, 10) as w
     cross join lateral (select memory.weigh_evidence(m / 10.0, w / 10.0, 0.8, 0.3) as evidence) as e
     where e.evidence < 1 - (1 - 0.08 * m) * (1 - 0.03 * w) - 1e-12
       or e.evidence > 1 - (1 - 0.08 * m) * (1 - 0.1 * w) + 1e-12 $$,
  'combined evidence is at least a noisy or of both by their weights, and at most with the full weight of words'
);

-- required_evidence, required_relevance

select is(
  round(memory.required_evidence(v.min_evidence, v.documents, v.in_general)::numeric, 12), round(v.expected, 12),
  format(
    'the best of %s memories needs evidence of %s for a question %s if a single one needs %s',
    v.documents, v.expected, case when v.in_general then 'in general' else 'about somebody' end, v.min_evidence
  )
)
from (values
  (1, 0.1::float8, 0::bigint, false, 0.1), (2, 0.1, 1, false, 0.1), (3, 0.1, 10, false, 0.185),
  (4, 0.1, 100, false, 0.27), (5, 0.1, 250, false, 0.1 * (1 + 0.85 * log(250.0))),
  (6, 0.1, 100000, false, 0.1 * (1 + 0.85 * log(250.0))), (7, 0.6, 1000, false, 1), (8, 0, 1000, false, 0),
  (9, 0.1, 1, true, 0.1), (10, 0.1, 10, true, 0.28), (11, 0.1, 100000, true, 0.1 * (1 + 1.8 * log(250.0))),
  (12, 0.3, 1000, true, 1)
) as v (position, min_evidence, documents, in_general, expected)
order by v.position;
select is(
  memory.required_evidence(0.1, 10), memory.required_evidence(0.1, 10, false),
  'a question is about somebody unless it is said to be in general'
);
select is(
  round(memory.required_relevance(0.06, v.required, v.best)::numeric, 12), round(v.expected, 12),
  format(
    'next to a best of %s that needs %s a relevance of %s is required',
    v.best, v.required, v.expected
  )
)
from (values
  (1, 0.2::float8, 0.2::float8, 0.14), (2, 0.2, 0.25, 0.112), (3, 0.2, 0.4, 0.07), (4, 0.2, 0.5, 0.06),
  (5, 0.2, 1, 0.06), (6, 0.2, 0, 0.06), (7, 0, 0.5, 0.06)
) as v (position, required, best, expected)
order by v.position;

-- composite_score

select is(
  round(memory.composite_score(1, 10, 1, 1)::numeric, 12), 1.0::numeric(13, 12),
  'a memory perfect in every part scores 1'
);
select is(
  memory.composite_score(0, 0, 0, 0), 0.0::float8,
  'a memory with zero in every part scores 0'
);
select is(memory.composite_score(1, 0, 0, 0), 0.4::float8, 'relevance weighs 0.4');
select is(
  memory.composite_score(0, 10, 0, 0), 0.3::float8,
  'importance weighs 0.3 on its range of 0 to 10'
);
select is(memory.composite_score(0, 0, 1, 0), 0.2::float8, 'recency weighs 0.2');
select is(memory.composite_score(0, 0, 0, 1), 0.1::float8, 'effective confidence weighs 0.1');
select is(
  memory.composite_score(0.5, 5, 0.5, 0.5, 1, 2, 3, 4), 5.0::float8,
  'the weights of the composite score are arguments'
);
select is(
  round(
    memory.composite_score(v.relevance, v.importance, v.recency, v.confidence, sharpness => 40)::numeric, 12
  ),
  round(v.expected / 16.6, 12), v.what
)
from (values
  (
    1, 1::float8, 10::float8, 1::float8, 1::float8, 16.6,
    'a memory perfect in every part scores 1 at any sharpness'
  ),
  (2, 1, 0, 0, 0, 16, 'with a sharpness of 40 relevance weighs 16 of 16.6'),
  (
    3, 0, 10, 0, 0, 0.3, 'with a sharpness of 40 importance weighs 0.3'), (4, 0, 0, 1, 0, 0.2,
    'with a sharpness of 40 recency weighs 0.2'
  ),
  (5, 0, 0, 0, 1, 0.1, 'with a sharpness of 40 confidence weighs 0.1')
) as v (position, relevance, importance, recency, confidence, expected, what)
order by v.position;
select cmp_ok(
  memory.composite_score(v.better, 0, 0, 0, sharpness => 40), v.operator,
  memory.composite_score(v.worse, 10, 1, 1, sharpness => 40), v.what
)
from (values
  (1, 0.54, '>', 0.5, 'relevance higher by 0.04 outweighs all other parts of the score'),
  (2, 0.53, '<', 0.5, 'relevance higher by 0.03 does not outweigh all other parts of the score')
) as v (position, better, operator, worse, what)
order by v.position;
select is(
  memory.composite_score(0.3, 7, 0.2, 0.6, sharpness => 1), memory.composite_score(0.3, 7, 0.2, 0.6),
  'a sharpness of 1 gives the plain sum'
);
select is(
  round(memory.composite_score(0.5, 5, 0.5, 0.5, 1, 2, 3, 4, 2)::numeric, 12), 5.0::numeric(13, 12),
  'a sharp score is on the scale of the weights'
);

-- days_between

select is(
  memory.days_between(v.earlier, v.later), v.expected, v.what
)
from (values
  (
    1, '2026-01-01Z'::timestamptz, '2026-01-02T12:00Z'::timestamptz, 1.5::float8,
    'half days are counted'
  ),
  (2, '2026-01-02Z', '2026-01-01Z', 0, 'the days since a time in the future are 0'),
  (3, null, '2026-01-01Z', null, 'the days since a NULL time are NULL'),
  (4, '2026-01-01Z', null, null, 'the days until a NULL time are NULL')
) as v (position, earlier, later, expected, what)
order by v.position;

-- Decay rates of the permanences

select results_eq(
  $$ select p, memory.decay_rate_of(p)
     from unnest('{permanent,stable,standard,volatile,ephemeral}'::text[]) as p $$,
  $$ values ('permanent', 0.0::float8), ('stable', 0.002), ('standard', 0.008), ('volatile', 0.03), ('ephemeral', 0.1) $$,
  'each permanence has its decay rate'
);
select is(memory.decay_rate_of('eternal'), null, 'an unknown permanence has no decay rate');

-- asks_in_general

select is(memory.asks_in_general(r.query), r.expected, r.what || ': ' || r.query)
from (
  select f.expected, f.what, c.query, f.position, c.number
  from (values
    (
      1, true, 'an English question in general',
      array[
        'What does carpe diem mean?', 'how many players are on a cricket team', 'Tell me a joke about penguins.',
        'Please explain to me what a black hole is', 'In which year did Rome fall?', 'WHO INVENTED PRINTING?',
        'So, why is the sky red?', 'Where does Nora live?', 'What''s the code of the server room door?'
      ]
    ),
    (
      2, false, 'an English question about somebody',
      array[
        'Where did I park?', 'What''s my blood type?', 'Who are our customers?', 'When was she born?',
        'How do I like to be helped?', 'What have we decided?', 'Could someone come over?', 'Where do they live?',
        'What does the user drink?', 'Tell me what I''m allergic to', 'Tell me a joke about my boss'
      ]
    ),
    (
      3, false, 'what is no question',
      array[
        'tea', 'allergies', 'The server is down', 'Plan dinner for Ada', 'staging url', 'Fix the failing test', '', '?'
      ]
    ),
    (
      4, true, 'a German question in general',
      array['Wie viele Spieler hat eine Mannschaft?', 'Erklär mir die Abseitsregel', 'In welchem Jahr fiel Rom?']
    ),
    (
      5, false, 'a German question about somebody',
      array['Wo wohne ich?', 'Wie heißt meine Ärztin?', 'Wann kommt er?', 'Was haben wir beschlossen?', 'Was trinkt sie?']
    ),
    (6, true, 'a French question in general', array['Qu''est-ce qu''un trou noir ?', 'Explique-moi la relativité', 'Où est le Nil ?']),
    (
      7, false, 'a French question about somebody',
      array['Où est-ce que j''habite ?', 'Quel est mon groupe sanguin ?', 'Comment s''appelle-t-il ?']
    ),
    (8, true, 'a Dutch question in general', array['Hoe lang kookt een ei?', 'Welke rivier is het langst?']),
    (9, false, 'a Dutch question about somebody', array['Wie is mijn huisarts?', 'Waar woont hij?']),
    (
      10, false, 'a question in a language whose verbs need no pronoun',
      array['¿Qué medicina no debo tomar?', '¿Dónde vivo?', 'Dove abito?', 'Onde moro?']
    )
  ) as f (position, expected, what, queries)
  cross join unnest(f.queries) with ordinality as c (query, number)
) as r
order by r.position, r.number;
select is(memory.asks_of_self(r.query), r.expected, format('whether somebody asks about himself or herself: %s', r.query))
from (values
  (1, 'Where do I live?', true), (2, 'MY doctor', true), (3, 'Wo wohne ich?', true), (4, 'Où habite mon père ?', true),
  (5, '¿Dónde vive mi hermana?', true), (6, 'Show me my plans', true), (7, 'Tell me where she lives', false),
  (8, 'Where does the user live?', false), (9, 'Zeige mir Adas Adresse', false), (10, '', false), (11, null, null)
) as r (position, query, expected)
order by r.position;
select is(memory.asks_in_general(null), null, 'no text is no question in general');
select is(
  array[
    memory.asks_in_general('Why ' || repeat('x ', 490) || 'me'), memory.asks_in_general('Why ' || repeat('x ', 510) || 'me')
  ],
  '{f,t}'::boolean[], 'the first 1,000 characters of a text are read for who it asks about'
);

-- Volatility and range

select is_empty(
  $$ select p.oid::regprocedure from pg_proc as p
     where p.pronamespace = 'memory'::regnamespace
       and p.proname in (
         'effective_confidence', 'recency_score', 'rrf_score', 'relevance_score', 'composite_score',
         'days_between', 'decay_rate_of', 'meaning_score', 'words_score', 'weigh_evidence', 'required_evidence',
         'required_relevance', 'asks_in_general'
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
select is_empty(
  $$ select 1 from (
       select
         random() * 2 - 1 as similarity, random() as share, random() * 10 as importance, random() as recency,
         random() as confidence
       from generate_series(1, 20000)
     ) as r
     where memory.composite_score(
       memory.weigh_evidence(memory.meaning_score(r.similarity), memory.words_score(r.share), 0.8, 0.3),
       r.importance, r.recency, r.confidence, sharpness => 40
     ) not between 0 and 1 $$,
  'twenty thousand random memories weighed by meaning and words score between 0 and 1'
);

select * from finish();
rollback;
