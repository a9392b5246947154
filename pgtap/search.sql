begin;
\ir fixtures.sql
select plan(324);

-- Approximate indexes. They come first, because an index built after rows of this transaction were
-- updated is not used before the next one. Three tenants share them: vectors with four random
-- coordinates, the same ones in every run.

select setseed(0.25);
create table memory_test.vectors as
select n as number, r.embedding::vector as embedding
from generate_series(1, 1900) as n
cross join lateral (
  select array_agg(case when i <= 4 then random() * 2 - 1 else 0 end order by i) as embedding
  from generate_series(1, 384) as i
  where n > 0
) as r;
insert into memory.embedding_versions (tenant_id, id, model, version, status)
select t.tenant_id, '00000000-0000-0000-0000-0000000000f1', 'model', '1', 'active'
from unnest('{big,middle,tiny}'::text[]) as t (tenant_id);
insert into memory.facts
  (tenant_id, subject, predicate, content, scope, created_at, embedding, embedding_version_id)
select
  case when v.number % 300 = 0 then 'tiny' when v.number % 8 = 0 then 'middle' else 'big' end,
  'vector', v.number::text, 'x', case when v.number % 2 = 0 then 'global' else 'odd' end, '2026-01-01Z',
  v.embedding, '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v
where v.number <= 1500;
insert into memory.rules (tenant_id, content, created_at, embedding, embedding_version_id)
select
  case when v.number % 8 = 0 then 'middle' else 'big' end, v.number::text, '2026-01-01Z', v.embedding,
  '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v
where v.number between 1501 and 1700;
insert into memory.episodes
  (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
select
  case when v.number % 8 = 0 then 'middle' else 'big' end, 'home', v.number::text, '2026-01-01Z', null,
  v.embedding, '00000000-0000-0000-0000-0000000000f1'
from memory_test.vectors as v
where v.number between 1701 and 1900;
insert into memory.facts (tenant_id, subject, predicate, content, created_at)
values ('big', 'no vector', 'plain', '777', '2026-01-01Z');
analyze memory.facts, memory.rules, memory.episodes;

create view memory_test.numbers as
select 'fact' as type, f.tenant_id, f.predicate::integer as number, f.scope
from memory.facts as f where f.subject = 'vector'
union all
select 'rule', r.tenant_id, r.content::integer, 'global' from memory.rules as r
where r.tenant_id in ('big', 'middle', 'tiny')
union all
select 'episode', e.tenant_id, e.content::integer, e.butler from memory.episodes as e
where e.tenant_id in ('big', 'middle', 'tiny');

-- The differences between the answers of the schema and a plain comparison of all vectors.
create function memory_test.differences(max_results integer, scope text default null)
  returns table (tenant_id text, type text, query integer, actual integer[], expected integer[])
  language plpgsql
as $$
declare
  v_embedding vector;
begin
  for tenant_id, type, query, v_embedding, expected in
    select t.tenant_id, y.type, v.number, v.embedding,
      array(
        select n.number
        from memory_test.numbers as n
        join memory_test.vectors as o on o.number = n.number
        where n.tenant_id = t.tenant_id and n.type = y.type
          and (differences.scope is null or n.scope in (differences.scope, 'global'))
        order by 1 - (o.embedding <=> v.embedding) desc
        limit max_results
      )
    from unnest('{big,middle,tiny}'::text[]) as t (tenant_id)
    cross join unnest('{fact,rule,episode}'::text[]) as y (type)
    join memory_test.vectors as v on v.number in (3, 500, 1600, 1800)
  loop
    perform memory_test.as_tenant(tenant_id);
    actual := array(
      select coalesce(m.predicate, m.content)::integer
      from memory.semantic_search(
        type, v_embedding, differences.scope, max_results, as_of => '2026-01-02Z'
      ) as m
    );
    if actual <> expected then
      return next;
    end if;
  end loop;
end;
$$;

select memory_test.as_tenant(t.tenant_id), memory.configure('{"exact_scan_limit": 0}')
from unnest('{big,middle,tiny}'::text[]) as t (tenant_id) \g /dev/null
select results_eq(
  $$ select n.tenant_id, n.type, count(*) from memory_test.numbers as n group by 1, 2 order by 1, 2 $$,
  $$ values
     ('big', 'episode', 175::bigint), ('big', 'fact', 1310), ('big', 'rule', 175),
     ('middle', 'episode', 25), ('middle', 'fact', 185), ('middle', 'rule', 25), ('tiny', 'fact', 5) $$,
  'a big, a middle and a tiny tenant share the tables'
);

create function memory_test.index_scans(type text)
  returns bigint
  language sql
  return pg_stat_get_xact_numscans(('memory.' || type || 's_embedding_idx')::regclass);

select is(
  memory.use_approximate_index('fact', 0), false,
  'without an approximate index every vector is compared'
);
select is_empty(
  format('select * from memory_test.differences(%s, %L)', d.max_results, d.scope),
  format('before any index is built, %s', d.what)
)
from (values
  (1, 10, null, 'ten results are the ten nearest of the tenant'),
  (2, 1000, null, 'an answer holds all vectors of a small tenant and a thousand of a big one'),
  (3, 10, 'odd', 'a search in a scope returns as many as it should')
) as d (position, max_results, scope, what)
order by d.position;

-- The planner would prefer to sort so few rows.
set local enable_seqscan = off;
set local enable_sort = off;

select memory.rebuild_vector_indexes('ivfflat');
select is_empty(
  format('select * from memory_test.differences(%s, %L)', d.max_results, d.scope),
  format('with an IVFFlat index %s', d.what)
)
from (values
  (1, 10, null, 'ten results are the ten nearest of the tenant'),
  (2, 1000, null, 'an answer holds all vectors of a small tenant and a thousand of a big one'),
  (3, 10, 'odd', 'a search in a scope returns as many as it should')
) as d (position, max_results, scope, what)
order by d.position;
select cmp_ok(
  memory_test.index_scans(t.type), '>', 0::bigint,
  format('semantic search uses the IVFFlat index of %ss', t.type)
)
from unnest('{episode,fact,rule}'::text[]) as t (type);

select memory.rebuild_vector_indexes('hnsw');
select is_empty(
  format('select * from memory_test.differences(%s, %L)', d.max_results, d.scope),
  format('with an HNSW index %s', d.what)
)
from (values
  (1, 10, null, 'ten results are the ten nearest of the tenant'),
  (2, 1000, null, 'an answer holds all vectors of a small tenant and a thousand of a big one'),
  (3, 10, 'odd', 'a search in a scope returns as many as it should')
) as d (position, max_results, scope, what)
order by d.position;
select cmp_ok(
  memory_test.index_scans(t.type), '>', 0::bigint,
  format('semantic search uses the HNSW index of %ss', t.type)
)
from unnest('{episode,fact,rule}'::text[]) as t (type);

-- Relevance does not depend on the index: neither that of the nearest nor that of a distant memory
-- that holds a word.
create function memory_test.weighed(number integer, query text, exact_scan_limit integer)
  returns table (
    memory_type text, name text, similarity float8, keyword_score float8, meaning float8, words numeric,
    relevance numeric
  )
  language plpgsql
as $$
begin
  perform memory_test.as_tenant('big');
  perform memory.configure(
    '{"candidate_pool": 1, "meaning_weight": 0.3, "words_weight": 1, "episode_meaning_weight": 0.3}'
    || jsonb_build_object('exact_scan_limit', exact_scan_limit)
  );
  return query
  select
    m.memory_type, coalesce(m.predicate, m.content), m.similarity, m.keyword_score, m.meaning,
    round(m.words::numeric, 9), round(m.relevance::numeric, 9)
  from memory_test.vectors as v
  cross join lateral memory.search(
    query, min_relevance => 0, embedding => v.embedding, max_results => 10, as_of => '2026-01-02Z'
  ) as m
  where v.number = weighed.number;
end;
$$;
update memory.embedding_versions as v set similarity_floor = -1, similarity_ceiling = 1
where v.tenant_id = 'big';
create table memory_test.queries as
select *
from (values (3, 'what'), (500, '777 or 1613'), (1600, '777 or 1613'), (1800, '1801 1')) as q (number, query);
create table memory_test.weighed_by_index as
select q.number, q.query, w.*
from memory_test.queries as q
cross join lateral memory_test.weighed(q.number, q.query, 0) with ordinality as w;
select results_eq(
  $$ select * from memory_test.weighed_by_index as w order by w.number, w.ordinality $$,
  $$ select q.number, q.query, w.*
     from memory_test.queries as q
     cross join lateral memory_test.weighed(q.number, q.query, 1000000) with ordinality as w
     order by q.number, w.ordinality $$,
  'relevance with an HNSW index equals that of a comparison of all vectors'
);
select results_eq(
  $$ select w.memory_type, w.name, w.words > 0, w.similarity is null, w.meaning is null
     from memory_test.weighed_by_index as w
     where w.number = 500 and w.keyword_score is not null order by 1, 2 $$,
  $$ values
     ('fact', '777', true, false, false), ('fact', 'plain', true, true, true),
     ('rule', '1613', true, false, false) $$,
  'a memory that holds a word has its similarity, even if it is not among the nearest'
);
select ok(
  not exists (
    select from memory_test.vectors as v
    cross join lateral memory.nearest_neighbors(
      'fact', v.embedding, null, 20, 0, 0, '2026-01-02Z'
    ) as n
    join memory.facts as f on f.id = n.id
    where v.number = 500 and f.predicate = '777'
  ),
  'a memory of the example that holds a word is not among the nearest'
);

select memory_test.as_tenant('tiny');
select is(
  (
    select count(*)
    from memory.approximate_neighbors('fact', memory_test.axis(1), null, 5, 0, '2026-01-02Z')
    where current_setting('hnsw.iterative_scan', true) is not null
  ),
  case when current_setting('hnsw.iterative_scan', true) is not null then 5 else 0 end::bigint,
  'an HNSW index (pgvector 0.8) reads on until it has the few vectors of a small tenant'
);

-- An index scan that ends at once finds other memories, but not fewer.
set local hnsw.ef_search = 1;
select set_config('hnsw.max_scan_tuples', '1', true)
where current_setting('hnsw.max_scan_tuples', true) is not null; -- pgvector 0.8
select is_empty(
  'select * from memory_test.differences(100) as d where cardinality(d.actual) <> cardinality(d.expected)',
  'an answer is as full as it can be when an HNSW index returns too few'
);

-- Use of an approximate index

select memory_test.as_tenant('middle');
select is(
  memory.use_approximate_index(t.type, l.exact_scan_limit), l.expected,
  format('the index of %ss is %s for a tenant of %s with a limit of %s', t.type,
    case when l.expected then 'used' else 'not used' end, t.count, l.exact_scan_limit)
)
from (values (1, 'fact', 185), (2, 'rule', 25), (3, 'episode', 25)) as t (position, type, count)
cross join lateral (values (t.count - 1, true), (t.count, false)) as l (exact_scan_limit, expected)
order by t.position, l.exact_scan_limit;
update pg_index as i set indisvalid = false where i.indexrelid = 'memory.facts_embedding_idx'::regclass;
select is(memory.use_approximate_index('fact', 0), false, 'an invalid index is not used');
update pg_index as i set indisvalid = true where i.indexrelid = 'memory.facts_embedding_idx'::regclass;
select is(memory.use_approximate_index('fact', 0), true, 'an index is used once it is valid');
select memory_test.as_tenant('nobody');
select is(memory.use_approximate_index('fact', 0), false, 'a tenant without vectors needs no index');

select memory.rebuild_vector_indexes('auto');
set local enable_seqscan = on;
set local enable_sort = on;
select is_empty(
  format('select * from memory_test.differences(%s)', d.max_results),
  format('with the indexes chosen automatically, %s results are the nearest', d.max_results)
)
from unnest('{10,1000}'::integer[]) as d (max_results)
order by 1;
select memory_test.as_tenant('a');

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
       m.score = m.similarity, m.keyword_score, m.keyword_rank
     from memory.semantic_search('fact', memory_test.axis(1)) as m $$,
  $$ values
     ('fact', 'near', 0.90000, 1::bigint, true, null::float8, null::bigint),
     ('fact', 'close', 0.80000, 2, true, null, null),
     ('fact', 'far', 0.10000, 3, true, null, null),
     ('fact', 'beyond', 0.00000, 4, true, null, null),
     ('fact', 'opposite', -0.50000, 5, true, null, null) $$,
  'semantic search orders by cosine similarity, opposite vectors last'
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
  'semantic search returns the best max_results memories'
);
select results_eq(
  $$ select m.rrf_score, m.relevance, m.recency
     from memory.semantic_search('fact', memory_test.axis(1), max_results => 1) as m $$,
  $$ values (null::float8, null::float8, null::float8) $$,
  'semantic search returns no fusion, relevance or recency'
);

-- Every column of a result

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
  'a result for a fact has all its columns and its confidence at the time'
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
  'a result for a rule has all its columns'
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
  'a result for an episode has its butler as scope and full confidence'
);

-- Only searchable memories

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
  m.method || ' search finds only active and fading facts'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
select is(
  memory_test.live(m.method, 'rule', '2026-01-02Z'), 'active fading inverted warning',
  m.method || ' search finds every rule that is not forgotten'
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
  (2, '2026-01-08Z', 'lasting later', 'the moment before it expires'),
  (3, '2026-01-09Z', 'lasting', 'any time if it never expires')
) as t (position, as_of, expected, what)
order by m.position, t.position;
select memory.configure('{"ranking": "specified"}') \g /dev/null
select is(
  memory_test.live('general', t.memory_type, t.as_of), t.expected,
  format('search with the specified ranking finds the same %ss at %s', t.memory_type, t.as_of)
)
from (values
  (1, 'fact', '2026-01-02Z'::timestamptz, 'active fading'),
  (2, 'rule', '2026-01-02Z', 'active fading inverted warning'),
  (3, 'episode', '2026-01-07T23:59:59Z', 'ending lasting later'), (4, 'episode', '2026-01-08Z', 'lasting later'),
  (5, 'episode', '2026-01-09Z', 'lasting')
) as t (position, memory_type, as_of, expected)
order by t.position;
select is(
  (select count(*) from memory.facts as f where f.tenant_id = 'live'), 5::bigint,
  'facts that are not searchable are kept'
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
  $$ select m.scope, m.keyword_score, m.keyword_rank, m.score, m.similarity, m.semantic_rank
     from memory.keyword_search('rule', 'fox') as m $$,
  $$ select v.scope, ts_rank(to_tsvector('english', v.content), 'fox')::float8, v.position::bigint,
       ts_rank(to_tsvector('english', v.content), 'fox')::float8, null::float8, null::bigint
     from (values
       ('den', 'Foxes: a fox, fox and fox', 1), ('hunt', 'A fox and a hound', 2),
       ('fable', 'The quick brown fox jumps over the lazy dog', 3)
     ) as v (scope, content, position)
     order by v.position $$,
  'keyword search orders by ts_rank and equal ranks by age, newest first'
);
select ok(
  (
    select max(m.keyword_score) > min(m.keyword_score) and count(distinct m.keyword_score) = 2
    from memory.keyword_search('rule', 'fox') as m
  ),
  'the ranks of the example differ only where the words do'
);
select results_eq(
  $$ select m.rrf_score, m.relevance, m.recency from memory.keyword_search('rule', 'hound') as m $$,
  $$ values (null::float8, null::float8, null::float8) $$,
  'keyword search returns no fusion, relevance or recency'
);
select results_eq(
  $$ select m.content from memory.keyword_search('rule', 'fox', max_results => 1) as m $$,
  $$ values ('Foxes: a fox, fox and fox') $$,
  'keyword search returns the best max_results memories'
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
  'den hunt fable', 'a search for any word looks for the sixty-fourth word of a long query'
);
select is(
  memory_test.found(
    (select string_agg('word' || n, ' ' order by n) from generate_series(1, 64) as n) || ' fox', 'any'
  ),
  '', 'a search for any word ignores the sixty-fifth word of a long query'
);
select is(
  memory_test.found(repeat('word the ', 100) || 'fox', 'any'),
  'den hunt fable', 'a search for any word counts only distinct words and no stop words'
);
select is(
  memory_test.found(
    (select string_agg('word' || n, ' ' order by n) from generate_series(1, 64) as n) || ' fox'
  ),
  '', 'a search for all words finds nothing if one word is missing'
);

-- The same matches as PostgreSQL text search

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
-- Dictionaries that give alternatives for a word

create text search dictionary public.search_test_ispell (
  template = ispell, dictfile = ispell_sample, afffile = ispell_sample
);
create text search configuration public.search_test (copy = english);
alter text search configuration public.search_test
alter mapping for asciiword with search_test_ispell, english_stem;
select memory_test.as_tenant('ispell');
select memory.configure('{"text_search_config": "search_test"}') \g /dev/null
select memory.store_rule('the book') as book_id \gset
select memory.store_rule('the book and the fox') as book_fox_id \gset
select results_eq(
  $$ select m.content from memory.keyword_search('rule', 'bookings') as m order by 1 $$,
  $$ values ('the book'), ('the book and the fox') $$,
  'a search finds any of the alternatives that a dictionary gives for a word'
);
select results_eq(
  $$ select m.content from memory.keyword_search('rule', 'bookings fox') as m $$,
  $$ values ('the book and the fox') $$,
  'a search for all words requires each word in one of its alternatives'
);

select memory_test.as_tenant('simple');
select memory.store_rule('The cats') as simple_id \gset
select memory.configure('{"text_search_config": "simple"}') \g /dev/null
select results_eq(
  $$ select q.query, count(m.id)
     from unnest('{cats,cat,the}'::text[]) as q (query)
     left join lateral memory.keyword_search('rule', q.query) as m on true
     group by 1 order by 1 $$,
  $$ values ('cat', 0::bigint), ('cats', 1), ('the', 1) $$,
  'changing the text search configuration changes how old memories and queries are read'
);

-- hybrid_search: the specified fusion, whatever the setting of ranking

select memory_test.as_tenant('fused');
select memory.register_embedding_version('model', '1') as fused_version_id \gset
insert into memory.rules (tenant_id, scope, content, embedding, embedding_version_id)
select 'fused', v.name, v.content, memory_test.near(v.similarity), :'fused_version_id'
from (values
  ('meaning', 'coffee', 0.9), ('both', 'tea', 0.8), ('both again', 'tea and tea', 0.7),
  ('neither', 'wine', 0.1)
) as v (name, content, similarity);
insert into memory.rules (tenant_id, scope, content) values ('fused', 'words', 'tea tea tea tea');
create function memory_test.hybrid(
  ranking text,
  query text,
  embedding vector default null,
  max_results integer default 10
)
  returns setof memory.ranked_memory
  language plpgsql
as $$
begin
  perform memory.configure(jsonb_build_object('ranking', ranking));
  return query
  select m.* from memory.hybrid_search('rule', query, embedding, max_results => hybrid.max_results) as m;
end;
$$;
create table memory_test.rankings as
select r.name, r.position
from unnest('{calibrated,specified}'::text[]) with ordinality as r (name, position);

select results_eq(
  format(
    $$ select m.scope, m.semantic_rank, m.keyword_rank, m.score
       from memory_test.hybrid(%L, 'tea', memory_test.axis(1), max_results => 5) as m $$,
    r.name
  ),
  $$ values
     ('both', 2::bigint, 3::bigint, 1.0::float8 / 62 + 1.0::float8 / 63),
     ('both again', 3, 2, 1.0::float8 / 63 + 1.0::float8 / 62),
     ('meaning', 1, null, 1.0::float8 / 61 + 1.0::float8 / 66),
     ('words', null, 1, 1.0::float8 / 66 + 1.0::float8 / 61),
     ('neither', 4, null, 1.0::float8 / 64 + 1.0::float8 / 66) $$,
  format(
    'hybrid search (%s) adds reciprocal ranks; a missing rank is the limit plus one', r.name
  )
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format(
    $$ select m.scope, m.rrf_score = m.score, round(m.similarity::numeric, 5), m.keyword_score is null
       from memory_test.hybrid(%L, 'tea', memory_test.axis(1), max_results => 5) as m $$,
    r.name
  ),
  $$ values
     ('both', true, 0.80000, false), ('both again', true, 0.70000, false), ('meaning', true, 0.90000, true),
     ('words', true, null, false), ('neither', true, 0.10000, true) $$,
  format('hybrid search (%s) returns no score for a list that lacks the memory', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format(
    $$ select m.scope, m.semantic_rank, m.keyword_rank, m.score
       from memory_test.hybrid(%L, 'tea', memory_test.axis(1), max_results => 2) as m $$,
    r.name
  ),
  $$ values
     ('meaning', 1::bigint, null::bigint, 1.0::float8 / 61 + 1.0::float8 / 63),
     ('words', null, 1, 1.0::float8 / 63 + 1.0::float8 / 61) $$,
  format('hybrid search (%s) reads shorter lists for a smaller max_results', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format(
    $$ select m.relevance = m.rrf_score * 61 / 2, m.recency, m.meaning, m.words, m.neighbor_boost,
         m.session_boost, m.named_boost, m.time_boost, m.updates_id
       from memory_test.hybrid(%L, 'tea', memory_test.axis(1), max_results => 1) as m $$,
    r.name
  ),
  $$ values (
    true, null::float8, null::float8, null::float8, null::float8, null::float8, null::float8, null::float8,
    null::uuid
  ) $$,
  format('hybrid search (%s) returns relevance but no recency or boosts', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format(
    $$ select m.scope, m.keyword_rank, m.semantic_rank, m.score
       from memory_test.hybrid(%L, 'tea', max_results => 2) as m $$,
    r.name
  ),
  $$ values
     ('words', 1::bigint, null::bigint, 1.0::float8 / 63 + 1.0::float8 / 61),
     ('both again', 2, null, 1.0::float8 / 63 + 1.0::float8 / 62) $$,
  format('hybrid search (%s) without an embedding is keyword search', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format(
    $$ select m.scope from memory_test.hybrid(%L, '', memory_test.axis(1), max_results => 2) as m $$, r.name
  ),
  $$ values ('meaning'), ('both') $$,
  format('hybrid search (%s) without words is semantic search', r.name)
)
from memory_test.rankings as r
order by r.position;
select is_empty(
  format($$ select m.scope from memory_test.hybrid(%L, '', max_results => 2) as m $$, r.name),
  format('hybrid search (%s) without words and embedding finds nothing', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  format($$ select m.scope, m.keyword_score from memory_test.hybrid(%L, 'tea') as m $$, r.name),
  $$ values
     ('words', ts_rank(to_tsvector('english', 'tea tea tea tea'), 'tea')::float8),
     ('both again', ts_rank(to_tsvector('english', 'tea and tea'), 'tea')::float8),
     ('both', ts_rank(to_tsvector('english', 'tea'), 'tea')::float8) $$,
  format('hybrid search (%s) orders its keyword list by ts_rank', r.name)
)
from memory_test.rankings as r
order by r.position;
select results_eq(
  $$ select m.scope, m.keyword_score from memory.keyword_search('rule', 'tea') as m $$,
  $$ values
     ('words', ts_rank(to_tsvector('english', 'tea tea tea tea'), 'tea')::float8),
     ('both again', ts_rank(to_tsvector('english', 'tea and tea'), 'tea')::float8),
     ('both', ts_rank(to_tsvector('english', 'tea'), 'tea')::float8) $$,
  'keyword search orders by ts_rank whatever the ranking setting'
);
select memory.configure('{"ranking": "calibrated"}') \g /dev/null
select results_eq(
  $$ select m.scope from memory.hybrid_search('rule', 'tea coffee') as m order by 1 $$,
  $$ values ('both'), ('both again'), ('meaning'), ('words') $$,
  'hybrid search finds any word, as keyword_match says'
);
select is_empty(
  $$ select m.scope from memory.hybrid_search('rule', 'tea coffee', keyword_match => 'all') as m $$,
  'hybrid search requires all words if the call asks for them'
);
select is_empty(
  $$ select m.scope from memory_test.hybrid('specified', 'tea coffee') as m $$,
  'hybrid search with the specified ranking requires all words by default'
);
select is(
  (select count(*) from memory.hybrid_search('rule', 'tea coffee', keyword_match => 'any')), 4::bigint,
  'hybrid search with the specified ranking finds any word if the call asks for it'
);
select memory.configure('{"ranking": "calibrated", "keyword_match": "all"}') \g /dev/null
select is_empty(
  $$ select m.scope from memory.hybrid_search('rule', 'tea coffee') as m $$,
  'hybrid search requires all words if keyword_match says so'
);
select is_empty(
  $$ select m.scope from memory.search('tea coffee', mode => 'keyword') as m $$,
  'general search requires all words if keyword_match says so'
);
select is(
  (select count(*) from memory.hybrid_search('rule', 'tea coffee', keyword_match => 'any')), 4::bigint,
  'hybrid search finds any word if the call overrides keyword_match'
);
select memory.configure('{"keyword_match": "any", "rrf_k": 1}') \g /dev/null
select results_eq(
  $$ select m.scope, m.score
     from memory.hybrid_search('rule', 'tea', memory_test.axis(1), max_results => 3) as m $$,
  $$ values
     ('meaning', 1.0::float8 / 2 + 1.0::float8 / 5), ('words', 1.0::float8 / 5 + 1.0::float8 / 2),
     ('both', 1.0::float8 / 3 + 1.0::float8 / 4) $$,
  'the constant of the fusion is a setting'
);
select results_eq(
  $$ select m.scope, m.score, m.relevance = m.rrf_score * 61 / 2
     from memory_test.hybrid('specified', 'tea', memory_test.axis(1), max_results => 3) as m $$,
  $$ values
     ('meaning', 1.0::float8 / 61 + 1.0::float8 / 64, true),
     ('words', 1.0::float8 / 64 + 1.0::float8 / 61, true),
     ('both', 1.0::float8 / 62 + 1.0::float8 / 63, true) $$,
  'the constant of the fusion is 60 with the specified ranking'
);

-- Ties

select memory_test.as_tenant('tied');
select memory.register_embedding_version('model', '1') as tied_version_id \gset
insert into memory.rules (tenant_id, id, scope, content, embedding, embedding_version_id, created_at)
select 'tied', v.id, v.name, 'tea', memory_test.axis(1), :'tied_version_id', v.created_at
from (values
  ('00000000-0000-0000-0000-000000000003'::uuid, 'third', '2026-01-02Z'::timestamptz),
  ('00000000-0000-0000-0000-000000000001', 'oldest', '2026-01-01Z'),
  ('00000000-0000-0000-0000-000000000002', 'second', '2026-01-02Z'),
  ('00000000-0000-0000-0000-000000000004', 'newest', '2026-01-03Z')
) as v (id, name, created_at);
create function memory_test.tied(method text)
  returns text
  language sql
  stable
  return array_to_string(
    case method
      when 'semantic' then array(select m.scope from memory.semantic_search('rule', memory_test.axis(1)) as m)
      when 'keyword' then array(select m.scope from memory.keyword_search('rule', 'tea') as m)
      when 'hybrid' then array(
        select m.scope from memory.hybrid_search('rule', 'tea', memory_test.axis(1)) as m
      )
      when 'general' then array(
        select m.scope
        from memory.search(
          'tea', embedding => memory_test.axis(1), min_confidence => 0, as_of => '2026-01-04Z'
        ) as m
      )
    end, ' '
  );
select is(
  memory_test.tied(m.method), 'newest second third oldest',
  m.method || ' search orders equal scores by age, newest first, and then by id'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
update memory.rules as r set reference_count = 1 where r.scope = 'newest';
update memory.rules as r set reference_count = 1 where r.scope = 'second';
select is(
  memory_test.tied(m.method), 'newest second third oldest',
  m.method || ' search keeps the order when rows move'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
select memory.configure('{"ranking": "specified"}') \g /dev/null
select is(
  memory_test.tied(m.method), 'newest second third oldest',
  m.method || ' search keeps the order with the specified ranking'
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
order by m.position;
select memory.configure('{"ranking": "calibrated"}') \g /dev/null
select results_eq(
  $$ select m.scope, m.semantic_rank, m.keyword_rank
     from memory.hybrid_search('rule', 'tea', memory_test.axis(1), max_results => 2) as m $$,
  $$ values ('newest', 1::bigint, 1::bigint), ('second', 2, 2) $$,
  'max_results cuts equal scores in the same order'
);
-- Many equal scores, of which the pool takes 20. The ids run against the age.
insert into memory.facts
  (tenant_id, id, subject, predicate, content, embedding, embedding_version_id, created_at)
select
  'tied', lpad(n::text, 32, '0')::uuid, 'tea', n::text, 'tea', memory_test.axis(1), :'tied_version_id',
  '2026-01-01Z'::timestamptz + n * interval '1 minute'
from generate_series(1, 60) as n;
select memory.configure('{"candidate_pool": 1}') \g /dev/null
select results_eq(
  format(
    $$ select m.predicate
       from memory.search(
         'tea', types => '{fact}', mode => %L, max_results => 3, embedding => memory_test.axis(1),
         as_of => '2026-01-04Z'
       ) as m $$,
    o.mode
  ),
  $$ values ('60'), ('59'), ('58') $$,
  format('a %s search returns the newest of sixty equal scores from a small pool', o.mode)
)
from unnest('{semantic,keyword,hybrid}'::text[]) with ordinality as o (mode, position)
order by o.position;
-- Equal scores: one by meaning and words, one by words and meaning.
select memory_test.as_tenant('mirrored');
select memory.register_embedding_version('model', '1') as mirrored_version_id \gset
insert into memory.rules (tenant_id, scope, content, embedding, embedding_version_id, created_at)
values
('mirrored', 'words first', 'tea tea tea', memory_test.near(0.5), :'mirrored_version_id', '2026-01-02Z'),
('mirrored', 'meaning first', 'tea', memory_test.near(0.6), :'mirrored_version_id', '2026-01-01Z');
select results_eq(
  $$ select m.scope, m.semantic_rank, m.keyword_rank
     from memory.hybrid_search('rule', 'tea', memory_test.axis(1)) as m $$,
  $$ values ('meaning first', 1::bigint, 2::bigint), ('words first', 2, 1) $$,
  'of equal fusions the more similar comes first, even if it is older'
);
select memory.configure('{"ranking": "specified"}') \g /dev/null
select results_eq(
  $$ select m.scope
     from memory.search(
       'tea', embedding => memory_test.axis(1), min_confidence => 0, as_of => '2026-01-03Z'
     ) as m $$,
  $$ values ('meaning first'), ('words first') $$,
  'general search with the specified ranking puts the more similar of equal fusions first'
);
-- Equally relevant, because both are at the end of the scale.
select memory_test.as_tenant('at the end');
select memory.register_embedding_version('model', '1') as end_version_id \gset
insert into memory.rules (tenant_id, scope, content, embedding, embedding_version_id, created_at)
values
('at the end', 'newer', 'tea', memory_test.near(0.8), :'end_version_id', '2026-01-02Z'),
('at the end', 'nearer', 'tea', memory_test.near(0.9), :'end_version_id', '2026-01-01Z');
select results_eq(
  format(
    $$ select m.scope, round(m.relevance::numeric, 9)
       from memory.search(
         'what', max_results => %s, embedding => memory_test.axis(1), as_of => '2026-01-03Z'
       ) as m $$,
    n.max_results
  ),
  format(
    $$ select v.scope, 0.8::numeric(10, 9) from (values ('nearer'), ('newer')) as v (scope) limit %s $$,
    n.max_results
  ),
  format('of equally relevant memories the more similar comes first among %s', n.max_results)
)
from generate_series(1, 2) as n (max_results);

-- search: several types

select memory_test.as_tenant('types');
select memory.configure('{"ranking": "specified"}') \g /dev/null
insert into memory.rules (tenant_id, id, content, created_at)
values ('types', '00000000-0000-0000-0000-000000000001', 'tea', '2026-01-01Z');
insert into memory.facts (tenant_id, id, subject, predicate, content, created_at)
values ('types', '00000000-0000-0000-0000-000000000002', 'tea', 'tea', 'tea', '2026-01-01Z');
insert into memory.episodes (tenant_id, id, butler, content, expires_at, created_at)
values ('types', '00000000-0000-0000-0000-000000000003', 'home', 'tea', null, '2026-01-01Z');
select results_eq(
  $$ select m.memory_type, m.score from memory.search('tea', as_of => '2026-01-02Z') as m $$,
  $$ values
     ('episode', 1.0::float8 / 71 + 1.0::float8 / 61), ('fact', 1.0::float8 / 71 + 1.0::float8 / 61),
     ('rule', 1.0::float8 / 71 + 1.0::float8 / 61) $$,
  'each type is searched by itself; equal scores come as episode, fact and rule'
);
update memory.facts as f set reference_count = 1 where f.tenant_id = 'types';
insert into memory.rules (tenant_id, id, content, created_at)
values ('types', '00000000-0000-0000-0000-000000000004', 'tea tea tea tea', '2026-01-01Z');
select results_eq(
  $$ select m.memory_type, m.content from memory.search('tea', as_of => '2026-01-02Z') as m $$,
  $$ values ('episode', 'tea'), ('fact', 'tea'), ('rule', 'tea tea tea tea'), ('rule', 'tea') $$,
  'the first of each type comes before the second of any type'
);
select results_eq(
  $$ select m.memory_type, m.content
     from memory.search('tea', mode => 'keyword', as_of => '2026-01-02Z') as m limit 1 $$,
  $$ values ('rule', 'tea tea tea tea') $$,
  'a keyword search compares the ranks of all types'
);
select is_empty(
  $$ select m.id from memory.search('green tea', as_of => '2026-01-02Z') as m $$,
  'search with the specified ranking requires every word'
);
select results_eq(
  $$ select m.memory_type from memory.search('tea', types => '{rule,fact}', as_of => '2026-01-02Z') as m $$,
  $$ values ('fact'), ('rule'), ('rule') $$,
  'search returns only the requested types in any order of types'
);
select results_eq(
  $$ select m.memory_type from memory.search('tea', types => '{fact,fact}', as_of => '2026-01-02Z') as m $$,
  $$ values ('fact') $$,
  'a type requested twice is searched once'
);
select is(
  (select count(*) from memory.search('tea', types => '{rule}', as_of => '2026-01-02Z')), 2::bigint,
  'a single type can be searched'
);
select throws_ok(
  format('select * from memory.search(''tea'', types => %L)', t.types), 'PM002', null,
  format('the types %s are refused', t.types)
)
from unnest(
  array['{}', '{link}', '{fact,NULL}', '{Fact}', '{fact,rule,episode,link}', '{{fact},{rule}}']
) with ordinality as t (types, position)
order by t.position;
select results_eq(
  $$ select m.memory_type from memory.search('tea', max_results => 2, as_of => '2026-01-02Z') as m $$,
  $$ values ('episode'), ('fact') $$,
  'max_results counts all types together'
);
-- By relevance, the types form one list. With k1 at 0 a word counts once, whatever the text length.
select memory_test.as_tenant('compared');
select memory.configure('{"bm25_k1": 0, "index_rendering": "content"}') \g /dev/null
insert into memory.rules (tenant_id, content) values ('compared', 'green tea'), ('compared', 'green paint');
insert into memory.facts (tenant_id, subject, predicate, content)
values ('compared', 'Ada', 'likes', 'green tea');
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at)
values ('compared', 'home', 'tea pot', '2026-01-01Z', null);
-- Of two rules both hold green and one tea: ln(1 + 0.5 / 2.5) and ln(1 + 1.5 / 1.5). The only
-- episode holds tea, ln(1 + 0.5 / 1.5), and not green, ln(1 + 1.5 / 0.5).
select results_eq(
  $$ select m.memory_type, m.content, round(m.words::numeric, 9), m.meaning,
       round(m.relevance::numeric, 9) = round(m.words::numeric, 9), m.score = m.relevance,
       m.semantic_rank, m.keyword_rank, m.rrf_score, m.recency
     from memory.search('green tea', as_of => '2026-01-02Z') as m $$,
  $$ select v.memory_type, v.content, round(least(1, v.share / 0.68), 9), null::float8, true, true,
       null::bigint, null::bigint, null::float8, null::float8
     from (values
       ('fact', 'green tea', 1.0), ('rule', 'green tea', 1.0),
       ('rule', 'green paint', ln(1.2) / (ln(1.2) + ln(2.0))),
       ('episode', 'tea pot', ln(4.0 / 3) / (ln(4.0 / 3) + ln(4.0)))
     ) as v (memory_type, content, share) $$,
  'the most relevant of all types come first; equal ones as episode, fact and rule'
);
select results_eq(
  $$ select m.memory_type from memory.search('green tea', max_results => 3, as_of => '2026-01-02Z') as m $$,
  $$ values ('fact'), ('rule'), ('rule') $$,
  'max_results counts all types together by relevance'
);
select results_eq(
  $$ select m.memory_type
     from memory.search('green tea', types => '{episode,rule}', as_of => '2026-01-02Z') as m $$,
  $$ values ('rule'), ('rule'), ('episode') $$,
  'a type that is not requested takes no place'
);

-- search: modes

select memory_test.as_tenant('modes');
select memory.configure('{"ranking": "specified"}') \g /dev/null
select memory.register_embedding_version('model', '1') as modes_version_id \gset
select memory.store_rule('tea', 'near', embedding => memory_test.near(0.9), as_of => '2026-01-01Z')
as modes_near_id \gset
select memory.store_rule('tea tea', 'far', embedding => memory_test.near(0.1), as_of => '2026-01-02Z')
as modes_far_id \gset
select memory.store_rule('tea tea tea', 'words', as_of => '2026-01-02Z') as modes_words_id \gset
select memory.store_rule('wine', 'meaning', embedding => memory_test.near(0.5), as_of => '2026-01-02Z')
as modes_meaning_id \gset
select results_eq(
  $$ select m.scope, round(m.score::numeric, 5)
     from memory.search(
       'tea', mode => 'semantic', embedding => memory_test.axis(1), as_of => '2026-01-03Z'
     ) as m $$,
  $$ values ('near', 0.90000), ('meaning', 0.50000), ('far', 0.10000) $$,
  'mode semantic orders by similarity and ignores the words'
);
select results_eq(
  $$ select m.scope, m.score
     from memory.search(
       'tea', mode => 'keyword', embedding => memory_test.axis(1), as_of => '2026-01-03Z'
     ) as m $$,
  $$ values
     ('words', ts_rank(to_tsvector('english', 'tea tea tea'), 'tea')::float8),
     ('far', ts_rank(to_tsvector('english', 'tea tea'), 'tea')::float8),
     ('near', ts_rank(to_tsvector('english', 'tea'), 'tea')::float8) $$,
  'mode keyword orders by ts_rank and ignores the embedding'
);
select results_eq(
  $$ select m.scope, m.score
     from memory.search(
       'tea', mode => 'hybrid', embedding => memory_test.axis(1), as_of => '2026-01-03Z'
     ) as m $$,
  $$ values
     ('near', 1.0::float8 / 61 + 1.0::float8 / 63), ('far', 1.0::float8 / 63 + 1.0::float8 / 62),
     ('words', 1.0::float8 / 71 + 1.0::float8 / 61), ('meaning', 1.0::float8 / 62 + 1.0::float8 / 71) $$,
  'mode hybrid orders by the fusion of both lists'
);
select results_eq(
  $$ select m.scope, m.score = m.rrf_score
     from memory.search('tea', embedding => memory_test.axis(1), as_of => '2026-01-03Z') as m $$,
  $$ values ('near', true), ('far', true), ('words', true), ('meaning', true) $$,
  'the default mode is hybrid'
);
select memory.configure('{"retrieval_mode": "semantic"}') \g /dev/null
select results_eq(
  $$ select round(m.score::numeric, 5)
     from memory.search('tea', embedding => memory_test.axis(1), as_of => '2026-01-03Z') as m $$,
  $$ values (0.90000), (0.50000), (0.10000) $$,
  'retrieval_mode sets the mode'
);
select throws_ok(
  $$ select * from memory.search('tea') $$, 'PM002', 'semantic search without an embedding',
  'retrieval_mode semantic requires an embedding'
);
select throws_ok(
  $$ select * from memory.search('tea', mode => 'psychic') $$, 'PM002', 'unknown mode: ''psychic''',
  'an unknown mode is refused'
);
select throws_ok(
  $$ select * from memory.search('tea', mode => 'semantic') $$,
  'PM002', 'semantic search without an embedding',
  'mode semantic without an embedding is refused'
);
-- By relevance. Meaning is 0.85 / 0.7, so 1, 0.45 / 0.7 and 0.05 / 0.7. The share of f times tea
-- among texts of one word is f / (f + 2).
select memory.configure('{"ranking": "calibrated", "retrieval_mode": "hybrid", "bm25_k1": 2}') \g /dev/null
create function memory_test.found_in_mode(mode text, min_relevance float8 default null)
  returns table (scope text, meaning numeric, words numeric, relevance numeric)
  language sql
begin atomic
  select
    m.scope, round(m.meaning::numeric, 6), round(m.words::numeric, 6), round(m.relevance::numeric, 6)
  from memory.search(
    'tea', mode => found_in_mode.mode, min_relevance => found_in_mode.min_relevance,
    embedding => memory_test.axis(1), as_of => '2026-01-03Z'
  ) as m
  where m.score = m.relevance;
end;
select results_eq(
  $$ select * from memory_test.found_in_mode('semantic') $$,
  $$ values
     ('near', 1.000000, null::numeric, 0.800000),
     ('meaning', round(0.45 / 0.7, 6), null, round(0.8 * 0.45 / 0.7, 6)) $$,
  'mode semantic finds memories relevant by meaning and ignores the words'
);
select results_eq(
  $$ select f.scope, f.relevance from memory_test.found_in_mode('semantic', 0) as f offset 2 $$,
  $$ values ('far', round(0.8 * 0.05 / 0.7, 6)) $$,
  'mode semantic finds memories down to the min_relevance of the call'
);
select results_eq(
  $$ select * from memory_test.found_in_mode('keyword') $$,
  $$ values
     ('words', null::numeric, round(3.0 / 5 / 0.68, 6), round(3.0 / 5 / 0.68, 6)),
     ('far', null, round(2.0 / 4 / 0.68, 6), round(2.0 / 4 / 0.68, 6)),
     ('near', null, round(1.0 / 3 / 0.68, 6), round(1.0 / 3 / 0.68, 6)) $$,
  'mode keyword finds memories relevant by words and ignores the embedding'
);
select results_eq(
  $$ select * from memory_test.found_in_mode('hybrid') $$,
  $$ select v.scope, round(v.meaning, 6), round(v.words, 6), round(v.relevance, 6)
     from (values
       ('words', null, 0.6 / 0.68, 0.6 / 0.68),
       ('near', 1, (1.0 / 3 - 0.08) / 0.6, 1 - 0.2 * (1 - power(0.2, 1 - (1.0 / 3 - 0.08) / 0.6) * (1.0 / 3 - 0.08) / 0.6)),
       ('meaning', 0.45 / 0.7, null, 0.8 * 0.45 / 0.7),
       ('far', 0.05 / 0.7, 0.7, 1 - (1 - 0.8 * 0.05 / 0.7) * (1 - power(0.2, 0.95) * 0.7))
     ) as v (scope, meaning, words, relevance) $$,
  'mode hybrid weighs meaning and words, and words alone for memories without a vector'
);
select results_eq(
  $$ select m.scope
     from memory.search(null, embedding => memory_test.axis(1), as_of => '2026-01-03Z') as m $$,
  $$ values ('near'), ('meaning') $$,
  'a search without a query counts only meaning'
);
select is_empty(
  $$ select m.scope from memory.search('', min_relevance => 0, as_of => '2026-01-03Z') as m $$,
  'a search without words and embedding finds nothing'
);
select memory.configure('{"retrieval_mode": "keyword"}') \g /dev/null
select results_eq(
  $$ select m.scope
     from memory.search('tea', embedding => memory_test.axis(1), as_of => '2026-01-03Z') as m $$,
  $$ values ('words'), ('far'), ('near') $$,
  'retrieval_mode sets the mode of calibrated ranking'
);

-- Scope

select memory_test.as_tenant('scopes');
select memory.register_embedding_version('model', '1') as scopes_version_id \gset
insert into memory.facts (tenant_id, subject, predicate, content, scope, embedding, embedding_version_id)
select 'scopes', 'tea', 'p', 'tea', s.scope, memory_test.axis(1), :'scopes_version_id'
from unnest('{global,home,work}'::text[]) as s (scope);
insert into memory.rules (tenant_id, content, scope, embedding, embedding_version_id)
select 'scopes', 'tea', s.scope, memory_test.axis(1), :'scopes_version_id'
from unnest('{global,home,work}'::text[]) as s (scope);
insert into memory.episodes (tenant_id, content, butler, embedding, embedding_version_id)
select 'scopes', 'tea', s.scope, memory_test.axis(1), :'scopes_version_id'
from unnest('{global,home,work}'::text[]) as s (scope);
create function memory_test.scopes(method text, scope text)
  returns text
  language sql
  stable
  return (
    select string_agg(m.memory_type || ':' || m.scope, ' ' order by m.memory_type, m.scope)
    from unnest('{episode,fact,rule}'::text[]) as t (type)
    cross join lateral (
      select * from memory.semantic_search(t.type, memory_test.axis(1), scopes.scope)
      where scopes.method = 'semantic'
      union all
      select * from memory.keyword_search(t.type, 'tea', scopes.scope)
      where scopes.method = 'keyword'
      union all
      select * from memory.hybrid_search(t.type, 'tea', memory_test.axis(1), scopes.scope)
      where scopes.method = 'hybrid'
      union all
      select * from memory.search('tea', array[t.type], scopes.scope, embedding => memory_test.axis(1))
      where scopes.method = 'general'
    ) as m
  );
select is(
  memory_test.scopes(m.method, s.scope), s.expected,
  format('%s search in %s', m.method, s.what)
)
from unnest('{semantic,keyword,hybrid,general}'::text[]) with ordinality as m (method, position)
cross join (values
  (
    1, 'work', 'episode:work fact:global fact:work rule:global rule:work',
    'a scope finds its facts and rules, global ones, and episodes of that butler'
  ),
  (
    2, 'global', 'episode:global fact:global rule:global', 'scope global finds only global memories'
  ),
  (3, 'nowhere', 'fact:global rule:global', 'an unknown scope finds global facts and rules'),
  (
    4, null, 'episode:global episode:home episode:work fact:global fact:home fact:work '
    'rule:global rule:home rule:work', 'all scopes finds all memories'
  )
) as s (position, scope, expected, what)
order by m.position, s.position;

-- min_confidence

select memory_test.as_tenant('faded');
select memory.register_embedding_version('model', '1') as faded_version_id \gset
insert into memory.facts
  (tenant_id, subject, predicate, content, confidence, created_at, embedding, embedding_version_id)
select 'faded', 'faded', i::text, 'tea tea tea', 1, '2026-01-01Z', memory_test.near(0.9), :'faded_version_id'
from generate_series(1, 40) as i;
insert into memory.facts
  (tenant_id, subject, predicate, content, confidence, permanence, decay_rate, created_at, embedding,
   embedding_version_id)
select 'faded', 'lasting', i::text, 'tea', 0.5, 'permanent', 0, '2026-01-01Z', memory_test.near(0.5),
  :'faded_version_id'
from generate_series(1, 5) as i;
select results_eq(
  format(
    $$ select m.subject, count(*)
       from memory.search(
         'tea', mode => %L, max_results => 5, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
       ) as m group by 1 $$,
    o.mode
  ),
  $$ values ('faded', 5::bigint) $$,
  format('memories with more similar vectors fill a %s search while they are fresh', o.mode)
)
from unnest('{semantic,keyword,hybrid}'::text[]) with ordinality as o (mode, position)
order by o.position;
select results_eq(
  format(
    $$ select m.subject, count(*)
       from memory.search(
         'tea', mode => %L, max_results => 5, embedding => memory_test.axis(1), as_of => '2026-12-01Z'
       ) as m group by 1 $$,
    o.mode
  ),
  $$ values ('lasting', 5::bigint) $$,
  format('faded memories take no place in a %s search', o.mode)
)
from unnest('{semantic,keyword,hybrid}'::text[]) with ordinality as o (mode, position)
order by o.position;
select memory.configure('{"ranking": "specified"}') \g /dev/null
select results_eq(
  $$ select m.subject, m.semantic_rank, m.keyword_rank
     from memory.search(
       'tea', max_results => 1, embedding => memory_test.axis(1), as_of => '2026-12-01Z'
     ) as m $$,
  $$ values ('lasting', 1::bigint, 1::bigint) $$,
  'faded memories take no rank in the specified ranking'
);
select memory.configure('{"ranking": "calibrated"}') \g /dev/null
select is(
  (
    select count(*) from memory.search(
      'tea', max_results => 100, embedding => memory_test.axis(1), min_confidence => 0, as_of => '2026-12-01Z'
    )
  ),
  45::bigint, 'a min_confidence of 0 finds faded memories'
);
select is(
  (
    select count(*) from memory.search(
      'tea', mode => m.mode, max_results => 100, min_confidence => c.min_confidence,
      embedding => memory_test.axis(1), as_of => '2026-12-01Z'
    )
  ),
  c.expected,
  format('in a %s search a confidence of 0.5 %s a min_confidence of %s', m.mode, c.what, c.min_confidence)
)
from unnest('{semantic,keyword,hybrid}'::text[]) with ordinality as m (mode, position)
cross join (values
  (1, 0.5::float8, 5::bigint, 'passes'), (2, 0.5000001, 0, 'does not pass'), (3, 1, 0, 'does not pass')
) as c (position, min_confidence, expected, what)
order by m.position, c.position;
select memory.configure('{"min_confidence": 0.6}') \g /dev/null
select is(
  (select count(*) from memory.search('tea', max_results => 100, as_of => '2026-12-01Z')), 0::bigint,
  'min_confidence is a setting'
);
select is(
  (select count(*) from memory.keyword_search('fact', 'tea', max_results => 100, as_of => '2026-12-01Z')),
  45::bigint, 'keyword search of one type finds faded memories'
);
select is(
  (
    select count(*) from memory.semantic_search(
      'fact', memory_test.axis(1), max_results => 100, as_of => '2026-12-01Z'
    )
  ),
  45::bigint, 'semantic search of one type finds faded memories'
);
select is(
  (
    select count(*) from memory.hybrid_search(
      'fact', 'tea', memory_test.axis(1), max_results => 100, as_of => '2026-12-01Z'
    )
  ),
  45::bigint, 'hybrid search of one type finds faded memories'
);
update memory.facts as f set last_confirmed_at = null where f.subject = 'faded';
select is(
  (
    select count(*)
    from memory.search('tea', max_results => 100, min_confidence => 0.01, as_of => '2026-01-01Z')
  ),
  5::bigint, 'a fact that was never confirmed has no confidence'
);
insert into memory.episodes (tenant_id, butler, content, expires_at, created_at)
values ('faded', 'home', 'tea', null, '2000-01-01Z');
select is(
  (
    select string_agg(m.memory_type, ' ')
    from memory.search('tea', max_results => 100, min_confidence => 1, as_of => '2026-12-01Z') as m
  ),
  'episode', 'an episode does not fade'
);

-- Arguments

select memory_test.as_tenant('a');
select throws_ok(
  format('select * from %s', replace(f.call, '%', 'max_results => ' || coalesce(n.value, 'null'))),
  'PM002', null,
  format('%s of %s results is refused', split_part(f.call, '(', 1), coalesce(n.value, 'NULL'))
)
from (values
  (1, $$memory.semantic_search('fact', memory_test.axis(1), %)$$),
  (2, $$memory.keyword_search('fact', 'x', %)$$), (3, $$memory.hybrid_search('fact', 'x', %)$$),
  (4, $$memory.search('x', %)$$)
) as f (position, call)
cross join unnest('{0,-1,null}'::text[]) with ordinality as n (value, position)
order by f.position, n.position;
select is(
  (select count(*) from memory.semantic_search('fact', memory_test.axis(1), max_results => 1000000000)),
  6::bigint, 'semantic search of a billion results returns what there is'
);
select memory_test.as_tenant('many');
insert into memory.rules (tenant_id, content) select 'many', 'tea' from generate_series(1, 1001);
select is(
  (select count(*) from memory.keyword_search('rule', 'tea', max_results => 1000000000)), 1000::bigint,
  'keyword search of a billion results returns a thousand'
);
select is(
  (select count(*) from memory.hybrid_search('rule', 'tea', max_results => 1000000000)), 1000::bigint,
  'hybrid search of a billion results returns a thousand'
);
select is(
  (select count(*) from memory.search('tea', max_results => 1000000000)), 1000::bigint,
  'search of a billion results returns a thousand'
);
select is(
  (select count(*) from memory.keyword_search('rule', 'tea')), 10::bigint,
  'ten results are the default'
);

select memory_test.as_tenant('a');
select throws_ok(
  format('select * from %s', replace(f.call, '%', 'as_of => ' || quote_nullable(n.value))), 'PM002', null,
  format('%s at the time %s is refused', split_part(f.call, '(', 1), coalesce(n.value, 'NULL'))
)
from (values
  (1, $$memory.semantic_search('fact', memory_test.axis(1), %)$$),
  (2, $$memory.keyword_search('fact', 'x', %)$$), (3, $$memory.hybrid_search('fact', 'x', %)$$),
  (4, $$memory.search('x', %)$$)
) as f (position, call)
cross join unnest('{null,infinity,-infinity}'::text[]) with ordinality as n (value, position)
order by f.position, n.position;
select throws_ok(
  format('select * from %s', replace(f.call, '%', quote_nullable(n.value))), 'PM002',
  'unknown memory_type: ' || quote_nullable(n.value),
  format('%s of the type %s is refused', split_part(f.call, '(', 1), coalesce(n.value, 'NULL'))
)
from (values
  (1, $$memory.semantic_search(%, memory_test.axis(1))$$), (2, $$memory.keyword_search(%, 'x')$$),
  (3, $$memory.hybrid_search(%, 'x')$$)
) as f (position, call)
cross join unnest('{link,null}'::text[]) with ordinality as n (value, position)
order by f.position, n.position;
select throws_ok(
  $$ select * from memory.keyword_search('fact', 'x', keyword_match => 'some') $$,
  'PM002', 'unknown keyword_match: ''some''',
  'keyword search with an unknown keyword_match is refused'
);
select throws_ok(
  $$ select * from memory.keyword_search('fact', 'x', keyword_match => null) $$,
  'PM002', 'unknown keyword_match: NULL', 'keyword search with a NULL keyword_match is refused'
);
select throws_ok(
  $$ select * from memory.hybrid_search('fact', 'x', keyword_match => 'some') $$,
  'PM002', 'unknown keyword_match: ''some''',
  'hybrid search with an unknown keyword_match is refused'
);
select throws_ok(
  format('select * from %s', replace(f.call, '%', $$repeat('x', 65537)$$)),
  'PM002', 'the query is 65537 bytes long',
  format('%s with a query longer than 64 KiB is refused', split_part(f.call, '(', 1))
)
from (values
  (1, $$memory.keyword_search('fact', %)$$), (2, $$memory.hybrid_search('fact', %)$$),
  (3, $$memory.search(%)$$)
) as f (position, call)
order by f.position;
select lives_ok(
  format('select * from %s', replace(f.call, '%', $$rpad(repeat('word ', 13107), 65536, 'x')$$)),
  format('%s with a query of 64 KiB is answered', split_part(f.call, '(', 1))
)
from (values
  (1, $$memory.keyword_search('fact', %)$$), (2, $$memory.hybrid_search('fact', %)$$),
  (3, $$memory.search(%)$$)
) as f (position, call)
order by f.position;
select throws_ok(
  format('select * from memory.search(''x'', min_confidence => %L)', n.value), 'PM002', null,
  format('a min_confidence of %s is refused', n.value)
)
from unnest('{-0.1,1.1,NaN,Infinity}'::text[]) with ordinality as n (value, position)
order by n.position;
select throws_ok(
  format('select * from memory.search(''x'', min_relevance => %L)', n.value), 'PM002', null,
  format('a min_relevance of %s is refused', n.value)
)
from unnest('{-0.1,1.1,NaN,Infinity}'::text[]) with ordinality as n (value, position)
order by n.position;

-- Query vectors

select throws_ok(
  $$ select * from memory.semantic_search('fact', null) $$, 'PM002', 'embedding is NULL',
  'semantic search without a vector is refused'
);
select throws_ok(
  format('select * from %s', replace(f.call, '%', v.value)), 'PM002', null,
  format('%s with %s is refused', split_part(f.call, '(', 1), v.what)
)
from (values
  (1, $$memory.semantic_search('fact', %)$$), (2, $$memory.hybrid_search('fact', 'x', %)$$),
  (3, $$memory.search('x', embedding => %)$$), (4, $$memory.search('x', mode => 'semantic', embedding => %)$$)
) as f (position, call)
cross join (values
  (1, $$'[1,2,3]'$$, 'a short vector'),
  (2, $$array_fill(0, array[384])::vector$$, 'a zero vector'),
  (3, $$array_fill(1e-9, array[384])::vector$$, 'a vector of tiny length'),
  (4, $$array_fill(1e9, array[384])::vector$$, 'a vector of enormous length')
) as v (position, value, what)
order by f.position, v.position;
select memory.start_reembedding('model', '2') as building_version_id \gset
select throws_ok(
  format('select * from %s', replace(f.call, '%', quote_literal(v.id))), 'PM004',
  'the embedding is not from the active version, model model version 1',
  format('%s with a vector of %s is refused', split_part(f.call, '(', 1), v.what)
)
from (values
  (1, $$memory.semantic_search('fact', memory_test.axis(1), embedding_version_id => %)$$),
  (2, $$memory.hybrid_search('fact', 'x', memory_test.axis(1), embedding_version_id => %)$$),
  (3, $$memory.search('x', embedding => memory_test.axis(1), embedding_version_id => %)$$)
) as f (position, call)
cross join (values
  (1, :'building_version_id', 'the building version'),
  (2, :'live_version_id', 'the version of another tenant'),
  (3, '00000000-0000-0000-0000-000000000001', 'an unknown version')
) as v (position, id, what)
order by f.position, v.position;
select is(
  (
    select count(*)
    from memory.semantic_search('fact', memory_test.axis(1), embedding_version_id => :'version_id')
  ),
  6::bigint, 'a vector of the active version is compared'
);
select memory_test.as_tenant('unregistered');
select throws_ok(
  $$ select * from memory.semantic_search(
       'fact', memory_test.axis(1), embedding_version_id => '00000000-0000-0000-0000-000000000001'
     ) $$,
  'PM004', 'no embedding model is registered', 'a version is refused for a tenant without one'
);
select is_empty(
  $$ select * from memory.semantic_search('fact', memory_test.axis(1)) $$,
  'semantic search without stored vectors finds nothing'
);
select memory_test.as_tenant('');
select throws_ok(
  format('select * from %s', f.call), '28000', 'this transaction names no tenant',
  format('%s without a tenant is refused', split_part(f.call, '(', 1))
)
from (values
  (1, $$memory.semantic_search('fact', memory_test.axis(1))$$), (2, $$memory.keyword_search('fact', 'x')$$),
  (3, $$memory.hybrid_search('fact', 'x')$$), (4, $$memory.search('x')$$)
) as f (position, call)
order by f.position;

select * from finish();
rollback;
