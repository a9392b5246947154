begin;
\ir fixtures.sql
select plan(200);

select memory.register_embedding_version('model', '1') as version_id \gset
select memory.store_fact(
  'f', v.content, v.content, embedding => memory_test.near(v.similarity), as_of => '2026-01-01Z'
)
from (values
  ('near', 0.9), ('close', 0.8), ('far', 0.1), ('beyond', 0.0), ('opposite', -0.5)
) as v (content, similarity) \g /dev/null

-- semantic_search

select results_eq(
  $$ select m.memory_type, m.content, round(m.similarity::numeric, 5), m.semantic_rank,
       m.score = m.similarity, m.rank, m.keyword_rank
     from memory.semantic_search('fact', memory_test.axis(1)) as m $$,
  $$ values
     ('fact', 'near', 0.90000, 1::bigint, true, null::float8, null::bigint),
     ('fact', 'close', 0.80000, 2, true, null, null),
     ('fact', 'far', 0.10000, 3, true, null, null),
     ('fact', 'beyond', 0.00000, 4, true, null, null),
     ('fact', 'opposite', -0.50000, 5, true, null, null) $$,
  'semantic search orders by cosine similarity, the opposite last'
);
select is_empty(
  $$ select m.content from memory.semantic_search('fact', memory_test.near(0.3)) as m
     join memory.facts as f on f.id = m.id
     where m.similarity is distinct from 1 - (f.embedding <=> memory_test.near(0.3)) $$,
  'similarity is one minus the cosine distance'
);
select results_eq(
  $$ select m.content, round(m.similarity::numeric, 5)
     from memory.semantic_search(
       'fact', (select array_agg(a * 1000)::vector from unnest(memory_test.axis(1)::real[]) as a), null, 2
     ) as m $$,
  $$ values ('near', 0.90000), ('close', 0.80000) $$,
  'the length of the query vector does not matter'
);
select results_eq(
  $$ select m.content from memory.semantic_search('fact', memory_test.axis(1), max_results => 2) as m $$,
  $$ values ('near'), ('close') $$,
  'semantic search returns at most max_results, the best of them'
);
select results_eq(
  $$ select m.rrf_score, m.relevance, m.recency
     from memory.semantic_search('fact', memory_test.axis(1), max_results => 1) as m $$,
  $$ values (null::float8, null::float8, null::float8) $$,
  'outside hybrid search there is no fusion, and outside recall no relevance and no recency'
);

-- Every column of an answer

insert into memory.entities (tenant_id, id, canonical_name, entity_type)
values ('a', '00000000-0000-0000-0000-0000000000e1', 'Ada', 'person');
select memory.store_fact(
  'Ada', 'whole', 'all of it', 7, 'stable', 'whole', '["t"]', '00000000-0000-0000-0000-0000000000e1', 0.5,
  metadata => '{"m": 1}', embedding => memory_test.axis(9), as_of => '2026-01-01Z'
) as whole_id \gset
update memory.facts as f
set reference_count = 3, last_referenced_at = '2026-01-02Z', last_confirmed_at = '2026-01-03Z'
where f.id = :'whole_id';
select results_eq(
  $$ select m.memory_type, m.id::text, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
       m.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id::text,
       m.session_id, m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at,
       m.reference_count, m.similarity, m.semantic_rank, m.score
     from memory.semantic_search(
       'fact', memory_test.axis(9), 'whole', 1, as_of => '2026-01-13Z'
     ) as m $$,
  format(
    $$ values (
      'fact', %L, 'whole', 'Ada', 'whole', 'all of it', 7::float8, 0.5::float8,
      0.5::float8 * exp(-0.002::float8 * 10), 'stable', null::text, null::float8,
      '00000000-0000-0000-0000-0000000000e1', null::uuid, '["t"]'::jsonb, '{"m": 1}'::jsonb,
      '2026-01-01Z'::timestamptz, '2026-01-03Z'::timestamptz, '2026-01-02Z'::timestamptz, 3,
      1::float8, 1::bigint, 1::float8
    ) $$,
    :'whole_id'
  ),
  'a fact that is found comes with all that is known of it, and its confidence at the time'
);
select memory.store_rule(
  'all of it', 'whole', '["t"]', 0.5, 7, metadata => '{"m": 1}', embedding => memory_test.axis(9),
  as_of => '2026-01-01Z'
) as whole_rule_id \gset
update memory.rules as r
set applied_count = 4, success_count = 3, effectiveness_score = 0.75, maturity = 'established'
where r.id = :'whole_rule_id';
select results_eq(
  $$ select m.memory_type, m.id::text, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
       m.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id, m.session_id,
       m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at, m.reference_count
     from memory.semantic_search('rule', memory_test.axis(9), as_of => '2026-01-11Z') as m $$,
  format(
    $$ values (
      'rule', %L, 'whole', null::text, null::text, 'all of it', 7::float8, 0.5::float8,
      0.5::float8 * exp(-0.01::float8 * 10), 'standard', 'established', 0.75::float8, null::uuid,
      null::uuid, '["t"]'::jsonb, '{"m": 1}'::jsonb, '2026-01-01Z'::timestamptz,
      '2026-01-01Z'::timestamptz, null::timestamptz, 0
    ) $$,
    :'whole_rule_id'
  ),
  'and so does a rule'
);
select memory.store_episode(
  'all of it', 'whole', '00000000-0000-0000-0000-0000000000aa', 7, '{"m": 1}', memory_test.axis(9),
  as_of => '2026-01-01Z'
) as whole_episode_id \gset
select results_eq(
  $$ select m.memory_type, m.id::text, m.scope, m.subject, m.predicate, m.content, m.importance, m.confidence,
       m.effective_confidence, m.permanence, m.maturity, m.effectiveness_score, m.entity_id,
       m.session_id::text, m.tags, m.metadata, m.created_at, m.last_confirmed_at, m.last_referenced_at,
       m.reference_count
     from memory.semantic_search('episode', memory_test.axis(9), as_of => '2026-01-02Z') as m $$,
  format(
    $$ values (
      'episode', %L, 'whole', null::text, null::text, 'all of it', 7::float8, 1::float8, 1::float8,
      null::text, null::text, null::float8, null::uuid, '00000000-0000-0000-0000-0000000000aa',
      '[]'::jsonb, '{"m": 1}'::jsonb, '2026-01-01Z'::timestamptz, null::timestamptz,
      null::timestamptz, 0
    ) $$,
    :'whole_episode_id'
  ),
  'and so does an episode, whose scope is its butler and whose confidence is whole'
);

-- Only what is live

select memory_test.as_tenant('live');
select memory.register_embedding_version('model', '1') as live_version_id \gset
insert into memory.facts (tenant_id, subject, predicate, content, validity, embedding, embedding_version_id)
select 'live', v.state, 'p', 'state', v.state, memory_test.axis(1), :'live_version_id'
from unnest('{active,fading,superseded,expired,retracted}'::text[]) as v (state);
insert into memory.rules (tenant_id, scope, content, metadata, maturity, embedding, embedding_version_id)
select 'live', v.scope, 'state', v.metadata, v.maturity, memory_test.axis(1), :'live_version_id'
from (values
  ('active', '{}'::jsonb, 'candidate'), ('fading', '{"status": "fading"}', 'proven'),
  ('forgotten', '{"forgotten": true}', 'proven'), ('warning', '{}', 'anti_pattern'),
  ('inverted', '{"needs_inversion": true}', 'candidate')
) as v (scope, metadata, maturity);
insert into memory.episodes
  (tenant_id, butler, content, expires_at, embedding, embedding_version_id, created_at)
select 'live', v.butler, 'state', v.expires_at, memory_test.axis(1), :'live_version_id', '2026-01-01Z'
from (values
  ('lasting', null::timestamptz), ('ending', '2026-01-08Z'), ('later', '2026-01-08T00:00:00.000001Z')
) as v (butler, expires_at);
update memory.episodes as e set consolidation_status = 'consolidated' where e.butler = 'later';

create function memory_test.live(method text, memory_type text, as_of timestamptz)
  returns text
  language sql
  stable
  return (
    select string_agg(coalesce(m.subject, m.scope), ' ' order by coalesce(m.subject, m.scope) collate "C")
    from (
      select * from memory.semantic_search(live.memory_type, memory_test.axis(1), as_of => live.as_of)
      where live.method = 'semantic'
      union all
      select * from memory.keyword_search(live.memory_type, 'state', as_of => live.as_of)
      where live.method = 'keyword'
      union all
      select * from memory.hybrid_search(live.memory_type, 'state', memory_test.axis(1), as_of => live.as_of)
      where live.method = 'hybrid'
      union all
      select * from memory.search(
        'state', array[live.memory_type], embedding => memory_test.axis(1), min_confidence => 0,
        as_of => live.as_of
      )
      where live.method = 'general'
    ) as m
  );
select is(
  memory_test.live(m.method, 'fact', '2026-01-02Z'), 'active fading',
  m.method || ' search finds active and fading facts, none that was superseded, expired or retracted'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
select is(
  memory_test.live(m.method, 'rule', '2026-01-02Z'), 'active fading inverted warning',
  m.method || ' search finds every rule that was not forgotten'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
select is(
  memory_test.live(m.method, 'episode', t.as_of), t.expected,
  format('%s search finds an episode until %s', m.method, t.what)
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
cross join (values
  (1, '2026-01-07T23:59:59Z'::timestamptz, 'ending lasting later', 'it expires'),
  (2, '2026-01-08Z', 'lasting later', 'the moment it expires, not at it'),
  (3, '2026-01-09Z', 'lasting', 'the end of time if it never expires')
) as t (position, as_of, expected, what)
order by m.position, t.position;
select is(
  (select count(*) from memory.facts as f where f.tenant_id = 'live'), 5::bigint,
  'what is not found is still kept'
);

-- keyword_search

select memory_test.as_tenant('words');
insert into memory.rules (tenant_id, scope, content, created_at)
values
('words', 'fable', 'The quick brown fox jumps over the lazy dog', '2026-01-01Z'),
('words', 'hunt', 'A fox and a hound', '2026-01-02Z'),
('words', 'den', 'Foxes: a fox, fox and fox', '2026-01-03Z'),
('words', 'days', 'Dog days', '2026-01-04Z'),
('words', 'percent', '100% sure', '2026-01-05Z'),
('words', 'address', 'See https://example.com/tea or mail ada@example.com', '2026-01-06Z');

create function memory_test.found(query text, keyword_match text default 'all')
  returns text
  language sql
  stable
  return array_to_string(array(
    select m.scope
    from memory.keyword_search('rule', query, keyword_match => keyword_match, as_of => '2026-01-07Z') as m
  ), ' ');
select results_eq(
  $$ select m.scope, m.rank, m.keyword_rank, m.score, m.similarity, m.semantic_rank
     from memory.keyword_search('rule', 'fox') as m $$,
  $$ select v.scope, ts_rank(to_tsvector('english', v.content), 'fox')::float8, v.position::bigint,
       ts_rank(to_tsvector('english', v.content), 'fox')::float8, null::float8, null::bigint
     from (values
       ('den', 'Foxes: a fox, fox and fox', 1), ('hunt', 'A fox and a hound', 2),
       ('fable', 'The quick brown fox jumps over the lazy dog', 3)
     ) as v (scope, content, position)
     order by v.position $$,
  'keyword search orders by ts_rank, and what ranks the same by age, the newest first'
);
select ok(
  (
    select max(m.rank) > min(m.rank) and count(distinct m.rank) = 2
    from memory.keyword_search('rule', 'fox') as m
  ),
  'the ranks of this example differ where the words do, and are equal where they are not'
);
select results_eq(
  $$ select m.rrf_score, m.relevance, m.recency from memory.keyword_search('rule', 'hound') as m $$,
  $$ values (null::float8, null::float8, null::float8) $$,
  'keyword search fuses nothing and has no relevance or recency'
);
select results_eq(
  $$ select m.content from memory.keyword_search('rule', 'fox', max_results => 1) as m $$,
  $$ values ('Foxes: a fox, fox and fox') $$,
  'keyword search returns at most max_results, the best of them'
);
select is(
  memory_test.found(q.query, q.keyword_match), q.expected,
  format('a search for %s of the words %s finds "%s"', q.keyword_match, to_json(q.query), q.expected)
)
from (values
  (1, 'fox dog', 'all', 'fable'),
  (2, 'fox dog', 'any', 'fable den days hunt'),
  (3, 'FOXES', 'all', 'den hunt fable'),
  (4, 'fox the dog of and', 'all', 'fable'),
  (5, 'fox unicorn', 'all', ''),
  (6, 'fox unicorn', 'any', 'den hunt fable'),
  (7, 'fox fox', 'all', 'den hunt fable'),
  (8, 'fox & !dog', 'all', 'fable'),
  (9, 'fox | hound', 'all', 'hunt'),
  (10, 'fox <-> hound', 'all', 'hunt'),
  (11, '!fox', 'all', 'den hunt fable'),
  (12, '(fox', 'all', 'den hunt fable'),
  (13, 'fo:*', 'all', ''),
  (14, 'fo:*', 'any', ''),
  (15, 'fo%', 'all', ''),
  (16, 'fo_', 'all', ''),
  (17, '%', 'all', ''),
  (18, '_', 'any', ''),
  (19, '100%', 'all', 'percent'),
  (20, $$'fox'$$, 'all', 'den hunt fable'),
  (21, $$'fox$$, 'any', 'den hunt fable'),
  (22, $$fox\$$, 'any', 'den hunt fable'),
  (23, $$\'$$, 'any', ''),
  (24, '"fox hound"', 'all', 'hunt'),
  (25, $$fox'; drop table memory.rules; --$$, 'all', ''),
  (26, $$fox'; drop table memory.rules; --$$, 'any', 'den hunt fable'),
  (27, 'https://example.com/tea', 'all', 'address'),
  (28, 'ada@example.com', 'any', 'address'),
  (29, '', 'all', ''),
  (30, '', 'any', ''),
  (31, E' \t\n', 'all', ''),
  (32, 'the and of', 'all', ''),
  (33, 'the and of', 'any', ''),
  (34, '!&|()<>:*', 'any', ''),
  (35, null, 'all', ''),
  (36, E'fox\u00a0\u2003hound', 'all', 'hunt')
) as q (position, query, keyword_match, expected)
order by q.position;
select is(
  memory_test.found(
    (select string_agg('word' || n, ' ' order by n) from generate_series(1, 63) as n) || ' fox', 'any'
  ),
  'den hunt fable', 'the sixty-fourth word of a long query is looked for'
);
select is(
  memory_test.found(
    (select string_agg('word' || n, ' ' order by n) from generate_series(1, 64) as n) || ' fox', 'any'
  ),
  '', 'the sixty-fifth word of a long query is not looked for where any word will do'
);
select is(
  memory_test.found(repeat('word the ', 100) || 'fox', 'any'),
  'den hunt fable', 'only distinct words count, and no stop words'
);
select is(
  memory_test.found(
    (select string_agg('word' || n, ' ' order by n) from generate_series(1, 64) as n) || ' fox'
  ),
  '', 'where every word must occur, one that does not is enough'
);

-- The same as the text search of PostgreSQL, row by row

select set_eq(
  format(
    $$ select m.id from memory.keyword_search('rule', %L, keyword_match => %L, max_results => 100) as m $$,
    q.query, k.keyword_match
  ),
  format(
    $$ select r.id from memory.rules as r
       where r.tenant_id = 'words'
         and to_tsvector('english', r.content) @@ (
           select string_agg(t.query, %L)::tsquery
           from (
             select plainto_tsquery('english', w)::text as query from unnest(string_to_array(%L, ' ')) as w
             where plainto_tsquery('english', w)::text <> ''
           ) as t
         ) $$,
    case k.keyword_match when 'all' then ' & ' else ' | ' end, q.query
  ),
  format('a search for %s of %L finds what to_tsquery finds', k.keyword_match, q.query)
)
from (values (1, 'fox dog'), (2, 'lazy days'), (3, 'foxes and hounds'), (4, 'tea')) as q (position, query)
cross join unnest('{all,any}'::text[]) as k (keyword_match)
order by q.position, k.keyword_match;
