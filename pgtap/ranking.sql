begin;
\ir fixtures.sql
select plan(136);

-- BM25 by hand: four active documents of 2, 3, 2 and 1 lexemes, 2 on average.

create function memory_test.idf(documents float8, corpus float8 default 4)
  returns float8
  language sql
  return ln(1 + (corpus - documents + 0.5) / (documents + 0.5));

create function memory_test.bm25(
  frequency float8,
  length float8,
  documents float8,
  corpus float8 default 4,
  average float8 default 2,
  k1 float8 default 0.5,
  b float8 default 0.4
)
  returns numeric
  language sql
  return round((
    memory_test.idf(documents, corpus)
    * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length / average))
  )::numeric, 10);

select is(
  memory.term_frequency(to_tsvector('simple', repeat('tea ', n) || 'milk'), 'tea'), n::float8,
  format('the term frequency of a word that occurs %s times is that count', n)
)
from unnest('{1,2,3,10,254,255}'::integer[]) with ordinality as o (n, position)
order by o.position;

select memory_test.as_tenant('bm25');
insert into memory.rules (tenant_id, scope, content, created_at)
values
('bm25', 'green', 'tea green', '2026-01-01Z'), ('bm25', 'twice', 'tea tea milk sugar', '2026-01-02Z'),
('bm25', 'milk', 'milk milk', '2026-01-03Z'), ('bm25', 'coffee', 'coffee beans', '2026-01-04Z');
-- Lengths: green tea 2, tea milk sugar 3, milk 1, coffee bean 2.
insert into memory.rules (tenant_id, scope, content, metadata)
values ('bm25', 'forgotten', 'tea tea tea', '{"forgotten": true}');
create function memory_test.by_bm25(
  query text,
  scope text default null
)
  returns table (scope text, weight numeric)
  language sql
begin atomic
  select m.scope, round(m.keyword_score::numeric, 10)
  from memory.search(
    by_bm25.query, mode => 'keyword', scope => by_bm25.scope, min_relevance => 0, as_of => '2026-01-05Z'
  ) as m;
end;
select results_eq(
  $$ select * from memory_test.by_bm25('tea') $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2)), ('green', memory_test.bm25(1, 2, 2)) $$,
  'BM25 weighs how often a word occurs against the length of the text'
);
select results_eq(
  $$ select * from memory_test.by_bm25('tea green') $$,
  $$ values
     ('green', memory_test.bm25(1, 2, 2) + memory_test.bm25(1, 2, 1)), ('twice', memory_test.bm25(2, 3, 2)) $$,
  'BM25 weighs a rare word more than a common one'
);
select memory.configure('{"keyword_match": "all"}') \g /dev/null
select results_eq(
  $$ select * from memory_test.by_bm25('tea milk') $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2) + memory_test.bm25(1, 3, 2)) $$,
  'BM25 weighs each word by how many texts hold it when all words are required'
);
select memory.configure('{"keyword_match": "any"}') \g /dev/null
select results_eq(
  $$ select * from memory_test.by_bm25('tea', 'green') $$,
  $$ values ('green', memory_test.bm25(1, 2, 2)) $$,
  'a scope changes which memories are found, not their BM25 weight'
);
select results_eq(
  $$ select m.scope from memory.search('tea', mode => 'keyword', max_results => 1, as_of => '2026-01-05Z') as m $$,
  $$ values ('twice') $$,
  'max_results keeps the memories that BM25 ranks first'
);
select is_empty(
  $$ select * from memory_test.by_bm25('the') $$,
  'a query of stop words finds nothing'
);
select is_empty(
  $$ select * from memory.search('tea', '{fact}', mode => 'keyword', min_relevance => 0) $$,
  'a query finds nothing where nothing is stored'
);
select memory.configure('{"bm25_k1": 0}') \g /dev/null
select results_eq(
  $$ select distinct m.weight from memory_test.by_bm25('tea') as m $$,
  $$ values (memory_test.bm25(1, 1, 2, k1 => 0)) $$,
  'with bm25_k1 at 0 it does not matter how often a word occurs'
);
select memory.configure('{"bm25_k1": 2, "bm25_b": 1}') \g /dev/null
select results_eq(
  $$ select * from memory_test.by_bm25('tea') $$,
  $$ values
     ('twice', memory_test.bm25(2, 3, 2, k1 => 2, b => 1)), ('green', memory_test.bm25(1, 2, 2, k1 => 2, b => 1)) $$,
  'bm25_k1 and bm25_b are settings'
);
select memory.configure('{"bm25_k1": 0.5, "bm25_b": 0.4}') \g /dev/null
select results_eq(
  format($$ select m.scope, round(m.keyword_score::numeric, 10) from %s as m $$, c.call),
  $$ values ('twice', memory_test.bm25(2, 3, 2)), ('green', memory_test.bm25(1, 2, 2)) $$,
  c.what || ' weighs words by BM25'
)
from (values
  (1, $$memory.search('tea', as_of => '2026-01-05Z')$$, 'search'),
  (2, $$memory.search('tea', mode => 'keyword', as_of => '2026-01-05Z')$$, 'keyword search'),
  (3, $$memory.rank_memories('tea', as_of => '2026-01-05Z')$$, 'recall')
) as c (position, call, what)
order by c.position;
-- The corpus holds the active memories of the tenant, folded or not.
select memory_test.as_tenant('bm25 of another');
select memory.store_rule('tea tea tea tea') as foreign_id \gset
select memory_test.as_tenant('bm25');
select memory.fold_corpus_statistics() \g /dev/null
select results_eq(
  $$ select * from memory_test.by_bm25('tea') $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2)), ('green', memory_test.bm25(1, 2, 2)) $$,
  'neither a fold nor another tenant changes a rank'
);
select results_eq(
  $$ select c.documents, c.average_terms from unnest(memory.corpus_sizes('{rule}')) as c $$,
  $$ values (4::bigint, 2::float8) $$,
  'the corpus holds only active memories'
);

-- The share of the highest possible score of the query, by hand: idf 0.69 for tea or milk, which
-- two of four texts hold, 1.20 for beans, 2.30 for a word that none holds. A word counts up to
-- k1 + 1 times that.

create function memory_test.shares(query text, scope text default null)
  returns table (scope text, share numeric)
  language sql
begin atomic
  select m.scope, round((0.68 * m.words)::numeric, 9)
  from memory.search(
    shares.query, mode => 'keyword', scope => shares.scope, min_relevance => 0, as_of => '2026-01-05Z'
  ) as m
  where m.meaning is null and round(m.relevance::numeric, 12) = round(m.words::numeric, 12);
end;
select results_eq(
  format('select * from memory_test.shares(%L)', q.query),
  $$ select v.scope, round(v.share::numeric, 9)
     from (values
       ('coffee', memory_test.bm25(1, 2, 1) / (1.5 * (memory_test.idf(2) + memory_test.idf(1)))),
       ('twice', memory_test.bm25(2, 3, 2) / (1.5 * (memory_test.idf(2) + memory_test.idf(1)))),
       ('green', memory_test.bm25(1, 2, 2) / (1.5 * (memory_test.idf(2) + memory_test.idf(1))))
     ) as v (scope, share) $$,
  q.what
)
from (values
  (1, 'tea beans', 'words score by their share of what all query words could score'),
  (
    2, 'beans? The tea of tea!',
    'repeated words and stop words of the query do not change the share'
  )
) as q (position, query, what)
order by q.position;
select results_eq(
  $$ select * from memory_test.shares('tea unicorn') $$,
  $$ select v.scope, round(v.share::numeric, 9)
     from (values
       ('twice', memory_test.bm25(2, 3, 2) / (1.5 * (memory_test.idf(2) + memory_test.idf(0)))),
       ('green', memory_test.bm25(1, 2, 2) / (1.5 * (memory_test.idf(2) + memory_test.idf(0))))
     ) as v (scope, share) $$,
  'a query word that no text holds lowers the share of the others'
);
select results_eq(
  $$ select * from memory_test.shares('tea unicorn', 'green') $$,
  $$ values (
    'green',
    round((memory_test.bm25(1, 2, 2) / (1.5 * (memory_test.idf(2) + memory_test.idf(0))))::numeric, 9)
  ) $$,
  'a scope does not change the share of the words'
);
select results_eq(
  $$ select * from memory_test.shares('milk tea') limit 1 $$,
  $$ values ('twice', 0.680000000) $$,
  'two thirds of the possible score already count in full'
);
select memory.configure('{"keyword_match": "all"}') \g /dev/null
select results_eq(
  $$ select s.scope from memory_test.shares('milk tea') as s $$, $$ values ('twice') $$,
  'with keyword_match at all, a text that lacks a word is not found'
);

-- Meaning and words: the default scale has 0.4 halfway. With k1 at 0 a word counts once, and of
-- three texts two hold tea and none unicorn: the share is
-- ln(1.6) / (ln(1.6) + ln(8)).

select memory_test.as_tenant('weighed');
select memory.register_embedding_version('model', '1') as weighed_version_id \gset
select memory.configure('{"bm25_k1": 0, "index_rendering": "content"}') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select
  'weighed', 's', v.name, v.content, v.embedding, case when v.embedding is not null then :'weighed_version_id'::uuid end
from (values
  ('meaning', 'wine', memory_test.near(0.4)), ('both', 'tea', memory_test.near(0.4)), ('words', 'tea', null)
) as v (name, content, embedding);
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
select
  'weighed', v.name, v.content, '2026-01-01Z', null, v.embedding,
  case when v.embedding is not null then :'weighed_version_id'::uuid end
from (values
  ('meaning', 'wine', memory_test.near(0.4)), ('both', 'tea', memory_test.near(0.4)), ('words', 'tea', null)
) as v (name, content, embedding);
create function memory_test.weighed(embedding vector default memory_test.axis(1), settings jsonb default '{}')
  returns table (memory_type text, name text, meaning numeric, words numeric, relevance numeric)
  language plpgsql
as $$
begin
  perform memory.configure(settings);
  return query
  select
    m.memory_type, coalesce(m.predicate, m.scope), round(m.meaning::numeric, 6), round(m.words::numeric, 6),
    round(m.relevance::numeric, 6)
  from memory.search(
    'tea or unicorn', min_relevance => 0, embedding => weighed.embedding, as_of => '2026-01-02Z'
  ) as m
  order by 1, 2;
end;
$$;
create view memory_test.by_words as
select
  s.share, (s.share - 0.08) / 0.6 as beside_meaning, s.share / 0.68 as alone
from (select ln(1.6) / (ln(1.6) + ln(8.0)) as share) as s;
select results_eq(
  $$ select * from memory_test.weighed() $$,
  $$ select v.memory_type, v.name, v.meaning, round(v.words, 6), round(v.relevance, 6)
     from memory_test.by_words as w
     cross join lateral (values
       ('episode', 'both', 0.500000, w.beside_meaning, 1 - (1 - 0.5 / 2) * (1 - 0.95 * w.beside_meaning)),
       ('episode', 'meaning', 0.500000, null, 0.5 / 2),
       ('episode', 'words', null, w.alone, w.alone),
       ('fact', 'both', 0.500000, w.beside_meaning, 1 - (1 - 0.8 / 2) * (1 - power(0.2, 1 - w.beside_meaning / 2) * w.beside_meaning)),
       ('fact', 'meaning', 0.500000, null, 0.8 / 2),
       ('fact', 'words', null, w.alone, w.alone)
     ) as v (memory_type, name, meaning, words, relevance) $$,
  'meaning and words combine as a noisy or, in which words weigh more as both fit; words alone use the whole scale'
);
select results_eq(
  $$ select * from memory_test.weighed(null) $$,
  $$ select v.memory_type, v.name, null::numeric, round(w.alone, 6), round(w.alone, 6)
     from memory_test.by_words as w
     cross join (values ('episode', 'both'), ('episode', 'words'), ('fact', 'both'), ('fact', 'words'))
     as v (memory_type, name) $$,
  'words use the whole scale for a query without a vector'
);
select results_eq(
  $$ select v.memory_type, v.name, v.relevance
     from memory_test.weighed(settings => '{
       "meaning_weight": 0.5, "words_weight": 1, "episode_meaning_weight": 0, "episode_words_weight": 0.5
     }') as v where v.name <> 'words' $$,
  $$ select v.memory_type, v.name, round(v.relevance, 6)
     from memory_test.by_words as w
     cross join lateral (values
       ('episode', 'both', 0.5 * w.beside_meaning), ('episode', 'meaning', 0),
       ('fact', 'both', 1 - 0.75 * (1 - w.beside_meaning)), ('fact', 'meaning', 0.25)
     ) as v (memory_type, name, relevance) $$,
  'the weights of meaning and words are settings'
);
update memory.embedding_versions as v set similarity_floor = 0.2, similarity_ceiling = 0.45
where v.tenant_id = 'weighed';
select results_eq(
  $$ select v.memory_type, v.name, v.meaning from memory_test.weighed() as v where v.name <> 'words' $$,
  $$ values
     ('episode', 'both', 0.800000), ('episode', 'meaning', 0.800000), ('fact', 'both', 0.800000),
     ('fact', 'meaning', 0.800000) $$,
  'similarity is scaled by the current scale of the embedding version'
);
select results_eq(
  $$ select v.memory_type, v.name, v.meaning from memory_test.weighed(memory_test.axis(2)) as v
     where v.name = 'meaning' $$,
  $$ values ('episode', 'meaning', 1.000000), ('fact', 'meaning', 1.000000) $$,
  'a similarity above the ceiling of the scale counts 1'
);
select results_eq(
  $$ select v.memory_type, v.name, v.meaning from memory_test.weighed(memory_test.axis(3)) as v
     where v.name = 'meaning' $$,
  $$ values ('episode', 'meaning', 0.000000), ('fact', 'meaning', 0.000000) $$,
  'a similarity below the floor of the scale counts 0'
);

-- Effects of other memories

select memory_test.as_tenant('steady');
select memory.register_embedding_version('model', '1') as steady_version_id \gset
select memory.configure('{"bm25_k1": 0}') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id, created_at)
select
  'steady', 's', v.name, v.content, v.embedding, case when v.embedding is not null then :'steady_version_id'::uuid end,
  '2026-01-01Z'
from (values
  ('meaning', 'wine', memory_test.near(0.5)), ('both', 'tea', memory_test.near(0.4)), ('words', 'tea', null)
) as v (name, content, embedding);
create function memory_test.steady(max_results integer default 10)
  returns table (name text, similarity float8, meaning float8, words numeric, relevance float8)
  language sql
begin atomic
  select m.predicate, m.similarity, m.meaning, round(m.words::numeric, 9), m.relevance
  from memory.search(
    'tea of the unicorn', min_relevance => 0, max_results => steady.max_results,
    embedding => memory_test.axis(1), as_of => '2026-01-02Z'
  ) as m
  where m.subject = 's'
  order by m.predicate;
end;
create table memory_test.alone as select * from memory_test.steady();
select results_eq(
  $$ select a.name, a.words from memory_test.alone as a where a.name <> 'meaning' $$,
  $$ select v.name, round((v.score)::numeric, 9)
     from (select memory_test.idf(2, 3) / (memory_test.idf(2, 3) + memory_test.idf(0, 3)) as share) as s
     cross join lateral (values ('both', (s.share - 0.08) / 0.6), ('words', s.share / 0.68)) as v (name, score) $$,
  'a word is weighed by how many of the stored facts hold it'
);
-- 90 memories of other types that hold the word, with nearer and farther vectors.
insert into memory.rules (tenant_id, content, embedding, embedding_version_id)
select 'steady', 'tea ' || n, memory_test.near(n / 50.0), :'steady_version_id' from generate_series(1, 45) as n;
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
select 'steady', 'home', 'tea ' || n, '2026-01-01Z', null, memory_test.near(n / -50.0), :'steady_version_id'
from generate_series(1, 45) as n;
select results_eq(
  $$ select * from memory_test.steady(100) $$, $$ select * from memory_test.alone $$,
  'memories of other types do not change relevance, to the last digit'
);
-- 97 facts that share no word with the query.
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select 'steady', 'other', n::text, 'milk', memory_test.near(sin(n)), :'steady_version_id'
from generate_series(1, 97) as n;
insert into memory.entities (tenant_id, canonical_name, entity_type) values ('steady', 'Ada', 'person');
select results_eq(
  $$ select s.* from memory_test.steady(200) as s where s.name = 'meaning' $$,
  $$ select a.* from memory_test.alone as a where a.name = 'meaning' $$,
  'relevance by meaning is the same among a hundred facts as among three'
);
select results_eq(
  $$ select s.name, s.similarity, s.meaning, s.words from memory_test.steady(200) as s where s.name <> 'meaning' $$,
  $$ select v.name, a.similarity, a.meaning, round((v.score)::numeric, 9)
     from (select memory_test.idf(2, 100) / (memory_test.idf(2, 100) + memory_test.idf(0, 100)) as share) as s
     cross join lateral (values ('both', (s.share - 0.08) / 0.6), ('words', s.share / 0.68)) as v (name, score)
     join memory_test.alone as a on a.name = v.name $$,
  'the score of words depends only on how many facts hold them'
);

-- Floors: a scale from 0 to 1 and all weight on meaning, so that relevance is the similarity.

select memory_test.as_tenant('floor');
select memory.register_embedding_version('model', '1') as floor_version_id \gset
update memory.embedding_versions as v set similarity_floor = 0, similarity_ceiling = 1 where v.tenant_id = 'floor';
select memory.configure('{"meaning_weight": 1, "index_rendering": "content"}') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id, created_at)
select
  'floor', 'subject', v.name, 'wine', memory_test.near(v.similarity), :'floor_version_id', v.created_at::timestamptz
from (values
  ('a', 0.5, '2026-01-01 06:00Z'), ('b', 0.12, '2026-01-01 05:00Z'), ('c', 0.1, '2026-01-01 04:00Z'),
  ('d', 0.07, '2026-01-01 03:00Z'), ('e', 0.05, '2026-01-01 02:00Z'), ('f', 0, '2026-01-01 01:00Z')
) as v (name, similarity, created_at);
insert into memory.rules (tenant_id, content, created_at)
select 'floor', 'milk ' || n, '2026-01-01Z' from generate_series(1, 4) as n;
create function memory_test.above(
  embedding vector default memory_test.axis(1),
  min_relevance float8 default null,
  types text[] default null,
  query text default 'anything'
)
  returns text
  language sql
begin atomic
  select coalesce(string_agg(coalesce(m.predicate, m.scope), ' ' order by m.ordinality), '')
  from memory.search(
    above.query, above.types, min_relevance => above.min_relevance, embedding => above.embedding,
    as_of => '2026-01-02Z'
  ) with ordinality as m;
end;
-- A direction in which the nearest, a, has the given similarity.
create function memory_test.toward(similarity float8)
  returns vector
  language sql
  immutable
  return (
    select array_agg(
      case i when 1 then similarity * 2 when 3 then sqrt(1 - similarity * similarity * 4) else 0 end order by i
    )::vector
    from generate_series(1, 384) as i
  );
select is(
  memory_test.above(), 'a b c d',
  'next to a confident best match the floor is min_relevance of the settings'
);
select is(
  memory_test.above(min_relevance => 0), 'a b c d e f',
  'a min_relevance of 0 returns everything'
);
select is(memory_test.above(min_relevance => 0.09), 'a b c', 'a call may raise min_relevance');
select is(
  memory_test.above(min_relevance => 1), '',
  'a min_relevance of 1 leaves out what is less than certain'
);
select m.relevance as relevance_of_b, m.relevance + 1e-15 as more_than_b
from memory.search('what', min_relevance => 0, embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m
where m.predicate = 'b' \gset
select is(
  memory_test.above(min_relevance => :relevance_of_b), 'a b',
  'a memory exactly as relevant as min_relevance is returned'
);
select is(
  memory_test.above(min_relevance => :more_than_b), 'a',
  'a memory less relevant by the last digit is left out'
);
select memory.configure('{"min_relevance": 0.11}') \g /dev/null
select is(memory_test.above(), 'a b', 'min_relevance is a setting');
select is(
  memory_test.above(min_relevance => 0.06), 'a b c d',
  'min_relevance of a call overrides the setting'
);
select memory.configure('{"min_relevance": 0.06}') \g /dev/null
-- Ten memories need evidence of 0.06 * 1.85, so 0.111; toward 0.2 the others keep 0.4 of theirs.
select is(
  memory_test.above(memory_test.toward(s.similarity)), s.expected,
  format('among ten memories a best match of %s %s', s.similarity, s.what)
)
from (values
  (1, 0.110::float8, '', 'is left out'), (2, 0.112, 'a', 'is returned')
) as s (position, similarity, expected, what)
order by s.position;
-- A question in general needs 0.06 * 2.8, so 0.168.
select is(
  memory_test.above(memory_test.toward(s.similarity), query => s.query), s.expected,
  format('among ten memories a best match of %s for "%s" %s', s.similarity, s.query, s.what)
)
from (values
  (1, 0.167::float8, 'Who won the cup?', '', 'is left out'), (2, 0.169, 'Who won the cup?', 'a', 'is returned'),
  (3, 0.112, 'Who won my cup?', 'a', 'is returned')
) as s (position, similarity, query, expected, what)
order by s.position;
select is(
  memory_test.above(memory_test.toward(0.112), 0.06, query => 'Who won the cup?'), 'a',
  'a call with min_relevance requires no evidence of a question in general either'
);
select is(
  memory_test.above(memory_test.axis(3)), '', 'a query that no memory is about finds nothing'
);
select is(
  memory_test.above(memory_test.axis(3), 0), 'a b c d e f',
  'a min_relevance of 0 returns memories that the query is not about'
);
select is(
  memory_test.above(memory_test.toward(0.110), 0.1), 'a',
  'a call with min_relevance requires no evidence'
);
-- Among six facts the best needs 0.06 * (1 + 0.85 * log(6)), so 0.0997.
select is(
  memory_test.above(memory_test.toward(s.similarity), types => '{fact}'), s.expected,
  format('in a search of facts alone a best match of %s %s', s.similarity, s.what)
)
from (values
  (1, 0.099::float8, '', 'is left out'), (2, 0.101, 'a', 'is returned')
) as s (position, similarity, expected, what)
order by s.position;
insert into memory.rules (tenant_id, content, created_at)
select 'floor', 'milk ' || n, '2026-01-01Z' from generate_series(5, 94) as n;
select is(
  memory_test.above(memory_test.toward(s.similarity)), s.expected,
  format('among a hundred memories a best match of %s %s', s.similarity, s.what)
)
from (values
  (1, 0.112::float8, '', 'is left out'), (2, 0.161, '', 'is left out'), (3, 0.163, 'a', 'is returned')
) as s (position, similarity, expected, what)
order by s.position;
select memory.configure('{"min_evidence": 0.05}') \g /dev/null
-- 0.05 * 2.7, so 0.135.
select is(
  memory_test.above(memory_test.toward(s.similarity)), s.expected,
  format('with a min_evidence of 0.05 a best match of %s %s', s.similarity, s.what)
)
from (values
  (1, 0.134::float8, '', 'is left out'), (2, 0.136, 'a', 'is returned')
) as s (position, similarity, expected, what)
order by s.position;
select memory.configure('{"min_evidence": 0, "min_relevance": 0}') \g /dev/null
select is(
  memory_test.above(memory_test.axis(3)), 'a b c d e f',
  'with min_evidence and min_relevance at 0 there is always an answer'
);
-- Next to a best of 0.25 that needs 0.2 others need 0.7 * 0.2 * 0.2 / 0.25, so 0.112; next to one
-- of 0.4 they need 0.07.
select memory.configure(jsonb_build_object('min_evidence', 0.2 / 2.7, 'min_relevance', 0.06)) \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id, created_at)
select 'floor', 'subject', v.name, 'beer', memory_test.axis(v.axis), :'floor_version_id', v.created_at::timestamptz
from (values ('x', 4, '2025-12-02Z'), ('y', 5, '2025-12-01Z')) as v (name, axis, created_at);
create function memory_test.beside(best float8, other float8)
  returns vector
  language sql
  immutable
  return (
    select array_agg(
      case i when 4 then best when 5 then other when 6 then sqrt(1 - best * best - other * other) else 0 end
      order by i
    )::vector
    from generate_series(1, 384) as i
  );
-- There are 102 memories now: the best needs a little more than 0.2.
select is(
  memory_test.above(memory_test.beside(v.best, v.other)), v.expected,
  format(
    'next to a best match of %s one of %s is %s', v.best, v.other,
    case v.expected when 'x' then 'left out' else 'returned' end
  )
)
from (values
  (1, 0.25::float8, 0.110::float8, 'x'), (2, 0.25, 0.115, 'x y'), (3, 0.4, 0.068, 'x'), (4, 0.4, 0.073, 'x y'),
  (5, 0.9, 0.059, 'x'), (6, 0.9, 0.061, 'x y')
) as v (position, best, other, expected)
order by v.position;
-- Being named is evidence: among 102 memories 0.095 * 2.7073, so 0.257, is needed, and
-- 1 - 0.81 * 0.9 is 0.271, 1 - 0.85 * 0.9 is 0.235. A question in general needs 0.438.
select memory.configure('{"boost_named": 0.1, "min_evidence": 0.095, "words_weight": 0}') \g /dev/null
select is(
  memory_test.above(memory_test.toward(s.similarity), query => s.query), s.expected,
  format('a best match of %s is %s', s.similarity, s.what)
)
from (values
  (1, 0.19::float8, 'anything', '', 'left out if no subject is named'),
  (2, 0.19, 'Which subject?', 'a', 'returned if its subject is named'),
  (3, 0.15, 'Which subject?', '', 'left out if it fits too little, although its subject is named'),
  (4, 0.35, 'Which one?', '', 'left out for a question in general if no subject is named')
) as s (position, similarity, query, expected, what)
order by s.position;
-- The words of an episode count no more than those of a fact: at most 0.3 here next to a vector.
select memory_test.as_tenant('talk');
select memory.register_embedding_version('model', '1') as talk_version_id \gset
select memory.configure('{"bm25_k1": 0, "index_rendering": "content"}') \g /dev/null
insert into memory.episodes (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
select 'talk', 'home', v.content, '2026-01-01Z', null, memory_test.near(0), :'talk_version_id'
from (values ('tea pot'), ('milk'), ('wine')) as v (content);
-- Of three episodes one holds tea, one milk: the share of either among three words is
-- ln(1 + 2.5 / 1.5) / (2 * ln(1 + 2.5 / 1.5) + ln(8)), so 0.24, words 0.27, evidence 0.081; 0.084 is needed.
select is_empty(
  $$ select * from memory.search('tea milk unicorn', embedding => memory_test.axis(1), as_of => '2026-01-02Z') $$,
  'the words of an episode are weak evidence'
);
select results_eq(
  $$ select m.content, round(m.relevance::numeric, 6)
     from memory.search(
       'tea milk unicorn', min_relevance => 0.2, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
     ) as m order by 1 $$,
  $$ select v.content, round(0.95 * (memory_test.idf(1, 3) / (2 * memory_test.idf(1, 3) + ln(8)) - 0.08)::numeric / 0.6, 6)
     from (values ('milk'), ('tea pot')) as v (content) $$,
  'the words of an episode may have high relevance'
);
select results_eq(
  $$ select m.content from memory.search('tea milk', embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m
     order by 1 $$,
  $$ values ('milk'), ('tea pot') $$,
  'half of the query words are enough evidence for an episode'
);

-- Boosts of episodes whose relevance is their similarity.

select memory_test.as_tenant('boosts');
select memory.register_embedding_version('model', '1') as boosts_version_id \gset
update memory.embedding_versions as v set similarity_floor = 0, similarity_ceiling = 1 where v.tenant_id = 'boosts';
select memory.configure('{"index_rendering": "content"}') \g /dev/null
insert into memory.episodes
  (tenant_id, butler, session_id, content, metadata, created_at, expires_at, embedding, embedding_version_id)
select
  'boosts', 'home', v.session::uuid, v.content, v.metadata::jsonb, v.created_at::timestamptz, null,
  memory_test.near(v.similarity), :'boosts_version_id'
from (values
  ('first', '00000000-0000-0000-0000-00000000000a', '{"speaker": "Ada"}', '2026-01-01 10:00Z', 0.50),
  ('best', '00000000-0000-0000-0000-00000000000a', '{"speaker": "Bob"}', '2026-01-01 10:01Z', 0.90),
  ('third', '00000000-0000-0000-0000-00000000000a', '{"speaker": "Ada"}', '2026-01-01 10:02Z', 0.40),
  ('fourth', '00000000-0000-0000-0000-00000000000a', '{"speaker": "Bob"}', '2026-01-01 10:03Z', 0.30),
  ('elsewhere', '00000000-0000-0000-0000-00000000000b', '{"speaker": "Ada Lovelace"}', '2026-01-01 10:01:30Z', 0.60),
  ('alone', null, '{}', '2026-01-01 10:01:40Z', 0.55)
) as v (content, session, metadata, created_at, similarity);
create function memory_test.boosted(
  settings jsonb,
  query text default 'what',
  mode text default 'hybrid',
  as_of timestamptz default '2026-01-02Z'
)
  returns table (content text, neighbors numeric, session numeric, named numeric, relevance numeric)
  language plpgsql
as $$
begin
  perform memory.configure(
    '{"episode_meaning_weight": 1, "boost_neighbors": 0, "boost_session": 0, "boost_named": 0}' || settings
  );
  return query
  select
    m.content, round(m.neighbor_boost::numeric, 4), round(m.session_boost::numeric, 4),
    round(m.named_boost::numeric, 4), round(m.relevance::numeric, 4)
  from memory.search(
    query, mode => mode, types => '{episode}', min_relevance => 0, embedding => memory_test.axis(1),
    as_of => as_of
  ) as m
  where m.score = m.relevance and m.time_boost = 0;
end;
$$;
select results_eq(
  $$ select * from memory_test.boosted('{}') $$,
  $$ values
     ('best', 0.0000, 0.0000, 0.0000, 0.9000), ('elsewhere', 0, 0, 0, 0.6), ('alone', 0, 0, 0, 0.55),
     ('first', 0, 0, 0, 0.5), ('third', 0, 0, 0, 0.4), ('fourth', 0, 0, 0, 0.3) $$,
  'without boosts relevance stays the same'
);
select results_eq(
  $$ select * from memory_test.boosted('{"boost_neighbors": 0.5}') $$,
  $$ values
     ('best', 0.2500, 0.0000, 0.0000, 1 - 0.1 * 0.75), ('first', 0.45, 0, 0, 1 - 0.5 * 0.55),
     ('third', 0.45, 0, 0, 1 - 0.6 * 0.55), ('elsewhere', 0, 0, 0, 0.6), ('alone', 0, 0, 0, 0.55),
     ('fourth', 0.2, 0, 0, 1 - 0.7 * 0.8) $$,
  'a turn gains from the better of the turns before and after it in its session'
);
-- (0.9 + 0.5 + 0.4) / 3, and 0.6 / 3.
select results_eq(
  $$ select * from memory_test.boosted('{"boost_session": 0.5}') $$,
  $$ values
     ('best', 0.0000, 0.3000, 0.0000, 1 - 0.1 * 0.7), ('first', 0, 0.3, 0, 1 - 0.5 * 0.7),
     ('elsewhere', 0, 0.1, 0, 1 - 0.4 * 0.9), ('third', 0, 0.3, 0, 1 - 0.6 * 0.7),
     ('alone', 0, 0, 0, 0.55), ('fourth', 0, 0.3, 0, 1 - 0.7 * 0.7) $$,
  'an episode gains from the mean of the three best episodes of its session'
);
select results_eq(
  $$ select * from memory_test.boosted('{"boost_named": 0.5}', 'What did ADA''s friend say?') $$,
  $$ values
     ('best', 0.0000, 0.0000, 0.0000, 0.9000), ('first', 0, 0, 0.5, 1 - 0.5 * 0.5),
     ('third', 0, 0, 0.5, 1 - 0.6 * 0.5), ('elsewhere', 0, 0, 0, 0.6), ('alone', 0, 0, 0, 0.55),
     ('fourth', 0, 0, 0, 0.3) $$,
  'an episode gains if the query names its speaker by the full name, in any case'
);
select results_eq(
  $$ select b.content from memory_test.boosted('{"boost_named": 0.5}', 'Ada Lovelace', 'semantic') as b
     where b.named > 0 order by 1 $$,
  $$ values ('elsewhere'), ('first'), ('third') $$,
  'a speaker is recognized in a semantic search and as part of a longer name'
);
select is_empty(
  $$ select b.content from memory_test.boosted('{"boost_named": 0.5}', 'Adamant bobbing') as b
     where b.named > 0 $$,
  'part of a word does not name a speaker'
);
select is_empty(
  $$ select b.content from memory_test.boosted('{"boost_named": 0.5}', '') as b where b.named > 0 $$,
  'an empty query names no speaker'
);
select results_eq(
  $$ select b.content, b.relevance
     from memory_test.boosted(
       '{"boost_neighbors": 0.5, "boost_session": 0.5, "boost_named": 0.5}', 'What did Bob say?'
     ) as b limit 1 $$,
  $$ values ('best', round(1 - 0.1 * 0.75 * 0.7 * 0.5, 4)) $$,
  'each boost reduces the doubt that the others leave'
);
select results_eq(
  $$ select b.content, b.relevance
     from memory_test.boosted(
       '{"boost_neighbors": 1, "boost_session": 1, "boost_named": 1}', 'What did Bob say?'
     ) as b where b.named = 1 order by 1 $$,
  $$ values ('best', 1.0000), ('fourth', 1) $$,
  'all boosts together do not exceed certainty'
);
-- Turns that are not candidates: expired, of another butler, or beyond the pool.
update memory.episodes as e set expires_at = '2026-01-03Z' where e.tenant_id = 'boosts' and e.content = 'best';
select results_eq(
  $$ select b.content, b.neighbors, b.session
     from memory_test.boosted(
       '{"boost_neighbors": 0.5, "boost_session": 0.5}', as_of => '2026-01-03Z'
     ) as b where b.content in ('first', 'third', 'fourth') order by 1 $$,
  $$ values ('first', 0.0000, 0.2000), ('fourth', 0.2, 0.2), ('third', 0.15, 0.2) $$,
  'an expired turn lends nothing, and turns on either side of it are not neighbors'
);
-- One word in a text of one word is 1 / 1.5 of the possible score: 0.9804 on the scale.
select results_eq(
  $$ select * from memory_test.boosted('{"boost_neighbors": 0.5, "boost_session": 0.5}', 'best', 'keyword') $$,
  $$ values (
    'best', 0.0000, round(0.5 / 1.5 / 0.68 / 3, 4), 0.0000,
    round(1 - (1 - 1 / 1.5 / 0.68) * (1 - 0.5 / 1.5 / 0.68 / 3), 4)
  ) $$,
  'in a keyword search, turns without the words lend nothing'
);
-- Turns of another butler in the same session

select memory_test.as_tenant('two butlers');
select memory.register_embedding_version('model', '1') as butlers_version_id \gset
insert into memory.episodes
  (tenant_id, butler, session_id, content, created_at, expires_at, embedding, embedding_version_id)
select
  'two butlers', v.butler, '00000000-0000-0000-0000-00000000000a', v.butler, v.created_at::timestamptz, null,
  memory_test.near(0.75), :'butlers_version_id'
from (values ('home', '2026-01-01 10:00Z'), ('work', '2026-01-01 10:01Z')) as v (butler, created_at);
-- Each of the two has relevance 0.5. It lends 0.4 of that to the other, and of two thirds of it to
-- both.
select results_eq(
  $$ select m.content, round(m.neighbor_boost::numeric, 6), round(m.session_boost::numeric, 6)
     from memory.search('what', embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m order by 1 $$,
  $$ values ('home', 0.200000, round(0.4 * 0.5 * 2 / 3, 6)), ('work', 0.200000, round(0.4 * 0.5 * 2 / 3, 6)) $$,
  'turns of two butlers in one session lend to each other in a search of both'
);
select results_eq(
  $$ select m.content, round(m.neighbor_boost::numeric, 6), round(m.session_boost::numeric, 6)
     from memory.search('what', scope => 'home', embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m $$,
  $$ values ('home', 0.000000, round(0.4 * 0.5 / 3, 6)) $$,
  'a search of one butler lends nothing from turns of another'
);

-- How many candidates are considered

select memory_test.as_tenant('pool');
select memory.register_embedding_version('model', '1') as pool_version_id \gset
update memory.embedding_versions as v set similarity_floor = 0, similarity_ceiling = 1 where v.tenant_id = 'pool';
insert into memory.episodes
  (tenant_id, butler, session_id, content, created_at, expires_at, embedding, embedding_version_id)
select
  'pool', 'home', v.session::uuid, v.content, v.created_at::timestamptz, null, memory_test.near(v.similarity),
  :'pool_version_id'
from (
  select 'between ' || n, null, '2026-01-01Z', 0.9 - n / 100.0 from generate_series(1, 30) as n
  union all
  values
  ('partner', '00000000-0000-0000-0000-00000000000a', '2026-01-01 10:00Z', 0.95),
  ('behind', '00000000-0000-0000-0000-00000000000a', '2026-01-01 10:01Z', 0.1)
) as v (content, session, created_at, similarity);
create function memory_test.considered(candidate_pool integer, max_results integer default 10)
  returns table (content text, neighbors numeric)
  language plpgsql
as $$
begin
  perform memory.configure(
    '{"episode_meaning_weight": 1, "boost_neighbors": 0.9, "boost_session": 0}'
    || jsonb_build_object('candidate_pool', candidate_pool)
  );
  return query
  select m.content, round(m.neighbor_boost::numeric, 4)
  from memory.search(
    'what', max_results => considered.max_results, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
  ) as m
  where m.session_id is not null;
end;
$$;
select results_eq(
  $$ select * from memory_test.considered(100) $$,
  $$ values ('partner', 0.0900), ('behind', round(0.9 * 0.95, 4)) $$,
  'boosts choose among all episodes of the pool'
);
select results_eq(
  $$ select * from memory_test.considered(31) $$, $$ values ('partner', 0.0000) $$,
  'an episode beyond a pool of 31 lends nothing and gains nothing'
);
select results_eq(
  $$ select * from memory_test.considered(32) $$,
  $$ values ('partner', 0.0900), ('behind', round(0.9 * 0.95, 4)) $$,
  'an episode within a pool of 32 lends and gains'
);
select results_eq(
  $$ select * from memory_test.considered(1, 16) $$,
  $$ values ('partner', 0.0900), ('behind', round(0.9 * 0.95, 4)) $$,
  'the pool is at least twice as large as the answer'
);
select results_eq(
  $$ select * from memory_test.considered(1, 15) $$, $$ values ('partner', 0.0000) $$,
  'the pool is no larger than it must be'
);
insert into memory.facts (tenant_id, subject, predicate, content, embedding, embedding_version_id)
select
  'pool', case n when 25 then 'Ada' else 'somebody' end, n::text, 'x', memory_test.near(0.9 - n / 100.0),
  :'pool_version_id'
from generate_series(1, 30) as n;
select memory.configure('{"boost_named": 1, "words_weight": 0}') \g /dev/null
select is(
  (
    select m.predicate
    from memory.search(
      'Ada', types => '{fact}', max_results => n.max_results, embedding => memory_test.axis(1),
      as_of => '2026-01-02Z'
    ) as m limit 1
  ),
  n.expected,
  format(
    'a search of facts for %s results considers %s candidates', n.max_results,
    greatest(20, 2 * n.max_results)
  )
)
from (values (1, '1'), (12, '1'), (13, '25')) as n (max_results, expected)
order by n.max_results;

-- Facts are about their subject or their entity.

select memory_test.as_tenant('named');
insert into memory.entities (tenant_id, id, canonical_name, entity_type, aliases)
values ('named', '00000000-0000-0000-0000-0000000000e1', 'Grace Hopper', 'person', '{Amazing Grace}');
select memory.store_fact('Ada', 'likes', 'tea') as ada_id \gset
select memory.store_fact('the admiral', 'likes', 'tea', entity_id => '00000000-0000-0000-0000-0000000000e1')
as grace_id \gset
select memory.store_fact('Bob', 'likes', 'tea', metadata => '{"speaker": "Cleo"}') as bob_id \gset
select memory.store_rule('Bring tea', metadata => '{"speaker": "Cleo"}') as rule_id \gset
select memory.configure('{"boost_named": 0.5}') \g /dev/null
select is(
  (
    select string_agg(coalesce(m.subject, 'rule'), ', ' order by m.subject)
    from memory.search('tea ' || q.query, min_relevance => 0) as m
    where m.named_boost = 0.5
      and abs(m.relevance - (1 - 0.5 * (1 - m.words))) < 1e-12
  ),
  q.expected, q.what
)
from (values
  (1, 'Ada?', 'Ada', 'a fact whose subject is named gains'),
  (2, 'of Grace Hopper', 'the admiral', 'a fact whose entity is named gains'),
  (3, 'of amazing grace', 'the admiral', 'a fact gains by any name of its entity'),
  (4, 'for the Admiral', 'the admiral', 'a fact with an entity gains by its subject'),
  (5, 'of Grace', null, 'a fact gains nothing by half a name'),
  (6, 'Bob and Ada', 'Ada, Bob', 'several named facts gain'),
  (7, 'of Cleo', null, 'a fact gains nothing by a speaker')
) as q (position, query, expected, what)
order by q.position;
select is(
  (select max(m.named_boost) from memory.search('tea Ada', min_relevance => 0) as m where m.subject <> 'Ada'), 0::float8,
  'a fact whose subject is not named gains nothing'
);

-- Whether a fact is named does not depend on other memories.

select memory_test.as_tenant('asked at length');
select memory.register_embedding_version('model', '1') as length_version_id \gset
select memory.store_fact('Ada', 'likes', 'green paint', embedding => memory_test.near(0.5), as_of => '2026-01-01Z')
as length_id \gset
create view memory_test.named_at_length as
select q.position, m.words, m.named_boost, round(m.relevance::numeric, 6) as relevance
from (values
  (
    1, 'hybrid',
    'Tell me whether Ada ever mentioned which shade, gloss, brand, supplier, price or delivery date she '
    'would prefer for walls, doors, windows, fences, cupboards and ceilings'
  ),
  (2, 'semantic', 'What would Ada like?')
) as q (position, mode, query)
cross join lateral memory.search(
  q.query, mode => q.mode, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
) as m;
-- Meaning is 0.45 / 0.7.
select results_eq(
  $$ select * from memory_test.named_at_length order by 1 $$,
  $$ values
     (1, 0::float8, 0.1::float8, round(1 - 0.9 * (1 - 0.8 * 0.45 / 0.7), 6)),
     (2, null, 0, round(0.8 * 0.45 / 0.7, 6)) $$,
  'a subject is named in a long query; a search without words recognizes none'
);
insert into memory.entities (tenant_id, canonical_name, entity_type) values ('asked at length', 'Bob', 'person');
select results_eq(
  $$ select * from memory_test.named_at_length order by 1 $$,
  $$ values
     (1, 0::float8, 0.1::float8, round(1 - 0.9 * (1 - 0.8 * 0.45 / 0.7), 6)),
     (2, null, 0, round(0.8 * 0.45 / 0.7, 6)) $$,
  'a subject is named regardless of the stored entities'
);

-- A memory referenced before does not rank above one that fits better, even in a search by words.

select memory_test.as_tenant('read before');
select memory.store_fact('customer', 'home city', 'Graz', as_of => '2026-01-01Z') as home_id \gset
select memory.store_fact('customer', 'discount', '5 percent', as_of => '2026-01-01Z') as discount_id \gset
update memory.facts as f set reference_count = 1, last_referenced_at = '2026-01-02Z' where f.id = :'discount_id';
select results_eq(
  $$ select m.predicate from memory.rank_memories('customer home city', as_of => '2026-01-02Z') as m $$,
  $$ values ('home city'), ('discount') $$,
  'a fact that holds all words ranks above a recently referenced one that holds one'
);

-- A time in the query

select memory_test.as_tenant('dated');
select memory.register_embedding_version('model', '1') as dated_version_id \gset
insert into memory.episodes
  (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id, index_rendering)
select
  'dated', 'home', v.content, v.created_at::timestamptz, null, memory_test.near(0.4), :'dated_version_id',
  'content'
from (values
  ('before', '2026-05-02 23:59:59Z'), ('begins', '2026-05-03 00:00Z'), ('evening', '2026-05-03 20:00Z'),
  ('after', '2026-05-04 00:00Z')
) as v (content, created_at);
insert into memory.facts
  (tenant_id, subject, predicate, content, valid_from, created_at, embedding, embedding_version_id)
select
  'dated', 's', v.content, v.content, v.valid_from::timestamptz, v.created_at::timestamptz, memory_test.near(0.4),
  :'dated_version_id'
from (values
  ('held then', '2026-05-03 12:00Z', '2026-05-20Z'), ('told then', '2026-04-01Z', '2026-05-03 12:00Z')
) as v (content, valid_from, created_at);
create function memory_test.dated(query text default 'What happened on 3 May 2026?', settings jsonb default '{}')
  returns table (content text, boost numeric, relevance numeric)
  language plpgsql
as $$
begin
  perform memory.configure(settings);
  return query
  select m.content, round(m.time_boost::numeric, 6), round(m.relevance::numeric, 6)
  from memory.search(query, embedding => memory_test.axis(1), min_relevance => 0, as_of => '2026-06-01Z') as m
  order by 1;
end;
$$;
select results_eq(
  $$ select * from memory_test.dated() $$,
  $$ values
     ('after', 0.000000, 0.250000), ('before', 0, 0.25), ('begins', 0.3, 1 - 0.75 * 0.7),
     ('evening', 0.3, 1 - 0.75 * 0.7), ('held then', 0.24, 1 - 0.6 * 0.76), ('told then', 0, 0.4) $$,
  'episodes of a time in the query gain; facts that hold from then gain in proportion'
);
select is_empty(
  $$ select * from memory_test.dated('What happened?') as d where d.boost > 0 $$,
  'a query without a time boosts nothing'
);
select results_eq(
  $$ select d.content from memory_test.dated(settings => '{"time_zone": "Asia/Tokyo"}') as d where d.boost > 0 $$,
  $$ values ('before'), ('begins'), ('held then') $$,
  'a day in the query is a day in the time zone of the settings'
);
select results_eq(
  $$ select d.content, d.relevance
     from memory_test.dated(settings => '{"time_zone": "UTC", "boost_time": 1}') as d where d.boost > 0 $$,
  $$ values ('begins', 1.000000), ('evening', 1), ('held then', 1 - 0.6 * 0.2) $$,
  'the boost of a time is a setting'
);
select is_empty(
  $$ select * from memory_test.dated(settings => '{"boost_time": 0}') as d where d.boost <> 0 $$,
  'boost_time at 0 turns the boost of a time off'
);

-- What there was, or will be, at a time

select memory_test.as_tenant('days') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.configure('{"episode_ttl_days": 400}') \g /dev/null
-- Many that are nearer, so that what is from the day is no candidate by its meaning.
select count(memory.store_episode('noise ' || n, 'home', embedding => memory_test.near(0.06), as_of => '2026-05-01Z'))
from generate_series(1, 150) as n \g /dev/null
select memory.store_episode('a parcel came', 'home', embedding => memory_test.axis(2), as_of => '2026-05-03 09:00Z') \g /dev/null
select memory.store_fact(
  'Ada', f.predicate, f.predicate, embedding => memory_test.axis(3), valid_from => f.valid_from::timestamptz, as_of => '2026-05-01Z'
)
from (values ('the dentist', '2026-05-12Z'), ('a concert', '2026-06-12Z')) as f (predicate, valid_from) \g /dev/null
create function memory_test.on_day(query text, settings jsonb default '{}')
  returns table (content text)
  language plpgsql
as $$
begin
  perform memory.configure(settings);
  return query
  select m.content
  from memory.rank_memories(query, embedding => memory_test.axis(1), as_of => '2026-05-04 12:00Z') as m
  where m.time_boost > 0;
end;
$$;
select results_eq(
  $$ select * from memory_test.on_day('What happened yesterday?') $$, $$ values ('a parcel came') $$,
  'who asks what happened on a day gets what did, whatever it is about'
);
select results_eq(
  $$ select * from memory_test.on_day('Was ist gestern passiert?') $$, $$ values ('a parcel came') $$, 'also in German'
);
select results_eq(
  $$ select * from memory_test.on_day('What is planned for next week?') $$, $$ values ('the dentist') $$,
  'who asks what is planned for a week gets what is'
);
select results_eq(
  $$ select * from memory_test.on_day('What do I have on 12 June?') $$, $$ values ('a concert') $$,
  'a day without a year is the next one for a question about plans'
);
select is_empty(
  $$ select * from memory_test.on_day('Who won the election yesterday?') $$,
  'a question about something else gets nothing because of its day'
);
select is_empty(
  $$ select * from memory_test.on_day('What happened yesterday?', '{"boost_time": 0}') $$,
  'without boost_time nothing is found by its day alone'
);

-- What has no vector yet.
select memory.store_episode('the cat left', 'home', as_of => '2026-05-02 09:00Z') \g /dev/null
select results_eq(
  $$ select * from memory_test.on_day('What happened on 2 May?', '{"boost_time": 0.3}') $$, $$ values ('the cat left') $$,
  'what happened on a day is found before it has a vector'
);
select results_eq(
  $$ select m.content from memory.rank_memories('What happened last weekend?', as_of => '2026-05-04 12:00Z') as m $$,
  $$ values ('a parcel came'), ('the cat left') $$,
  'and without the vector of a query, the last first'
);

select memory.store_fact(
  'Ada', f.predicate, f.content, permanence => 'permanent', embedding => memory_test.near(0.5),
  as_of => f.stored_at::timestamptz
)
from (values
  ('holiday', 'two weeks in Brittany in July 2025', '2025-03-01Z'), ('trip', 'Rome, last summer', '2026-03-01Z'),
  ('job', 'a baker', '2025-07-03Z'), ('plan', 'a week in Wales in July 2024', '2025-03-01Z')
) as f (predicate, content, stored_at) \g /dev/null
select results_eq(
  $$ select * from memory_test.on_day('Where were we in July 2025?', '{"boost_time": 0.3}') as d order by 1 $$,
  $$ values ('Rome, last summer'), ('a baker'), ('two weeks in Brittany in July 2025') $$,
  'a fact is of a time that its text names, read as of the day from which it holds, and of that day'
);
select memory.store_fact(
  'Ada', 'dinner', 'with Bob on 4 December', permanence => 'permanent', embedding => memory_test.near(0.5),
  as_of => '2025-11-01Z'
) \g /dev/null
select results_eq(
  format($$ select * from memory_test.on_day(%L, '{"boost_time": 0.3}') as d order by 1 $$, 'Whom did Ada meet on 4 December ' || y.year),
  $$ values ('with Bob on 4 December') $$,
  'a day without a year may be the next one or the last one: ' || y.year
)
from (values (2024), (2025)) as y (year)
order by y.year;

-- Who asks about himself or herself

select memory_test.as_tenant('self') \g /dev/null
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('the cat', 'medicine', 'twice a day', embedding => memory_test.near(0.52), as_of => '2026-05-01Z') \g /dev/null
select memory.store_fact('user', 'medicine', 'every morning', embedding => memory_test.near(0.5), as_of => '2026-05-01Z') \g /dev/null
create function memory_test.subjects(query text)
  returns text[]
  language sql
  volatile
  return array(
    select m.subject
    from memory.search(query, embedding => memory_test.axis(1), as_of => '2026-05-02Z') with ordinality as m
    order by m.ordinality
  );
select is(
  memory_test.subjects(q.query), '{user,"the cat"}'::text[], 'a fact about the user comes before a slightly nearer one: ' || q.query
)
from unnest('{Which medicine do I take?,my medicine,Welche Medizin nehme ich?,¿Cuál es mi medicina?}'::text[]) as q (query);
select is(
  memory_test.subjects(q.query), '{"the cat",user}'::text[], 'unless the question is not about him or her: ' || q.query
)
from unnest('{Which medicine does it take?,Tell me the medicine of the cat}'::text[]) as q (query);

-- Boosts choose among the 20 best by meaning and words, for up to ten results.

select memory_test.as_tenant('depth');
select memory.register_embedding_version('model', '1') as depth_version_id \gset
select memory.entity_create('Bob', 'person') as bob \gset
insert into memory.facts
  (tenant_id, subject, predicate, content, entity_id, created_at, valid_from, embedding, embedding_version_id)
select
  'depth', 's', 'p' || n, 'fact ' || n, case when n in (20, 21) then :'bob'::uuid end, '2026-05-03Z', '2026-05-03Z',
  memory_test.near(0.9 - 0.01 * n), :'depth_version_id'
from generate_series(1, 25) as n;
select memory.configure('{"boost_named": 1}') \g /dev/null
select results_eq(
  $$ select m.content from memory.search(
       'Who is Bob?', embedding => memory_test.axis(1), max_results => 2, as_of => '2026-06-01Z'
     ) as m $$,
  $$ values ('fact 20'), ('fact 1') $$, 'of the facts that a boost would lift, the 20 best are candidates'
);
select results_eq(
  $$ select m.content from memory.search(
       'Who is Bob?', embedding => memory_test.axis(1), max_results => 11, as_of => '2026-06-01Z'
     ) as m limit 3 $$,
  $$ values ('fact 20'), ('fact 21'), ('fact 1') $$, 'for more results, twice as many are'
);

-- The present is a time as well.

select memory_test.as_tenant('news');
select memory.register_embedding_version('model', '1') as news_version_id \gset
insert into memory.facts
  (tenant_id, subject, predicate, content, created_at, valid_from, embedding, embedding_version_id)
select
  'news', 's', v.name, v.content, '2026-05-03Z', '2026-05-03Z', memory_test.near(v.similarity), :'news_version_id'
from (values
  ('news', 'works elsewhere from now on', 0.4), ('fact', 'works here', 0.4), ('other news', 'paints no longer', 0.12)
) as v (name, content, similarity);
insert into memory.rules (tenant_id, scope, content, created_at, embedding, embedding_version_id)
values ('news', 'rule', 'rest from now on', '2026-05-03Z', memory_test.near(0.4), :'news_version_id');
insert into memory.episodes
  (tenant_id, butler, content, created_at, expires_at, embedding, embedding_version_id)
values ('news', 'episode', 'rests from now on', '2026-05-03Z', null, memory_test.near(0.4), :'news_version_id');
create function memory_test.present(query text)
  returns table (name text, boost numeric)
  language sql
begin atomic
  select coalesce(m.predicate, m.scope), round(m.time_boost::numeric, 6)
  from memory.search(
    query, scope => '*', embedding => memory_test.axis(1), min_relevance => 0, as_of => '2026-06-01Z'
  ) as m
  order by 1;
end;
select results_eq(
  $$ select * from memory_test.present('What is it these days?') $$,
  $$ values ('episode', 0.000000), ('fact', 0), ('news', 0.3 * 2 * 0.4), ('other news', 0.3 * 2 * 0.08), ('rule', 0) $$,
  'if the query asks for the present, a fact that is an update gains as much as it fits'
);
select results_eq(
  $$ select * from memory_test.present('What is it?') $$,
  $$ values ('episode', 0.000000), ('fact', 0), ('news', 0), ('other news', 0), ('rule', 0) $$,
  'a query that does not ask for the present boosts no update'
);
select results_eq(
  $$ select * from memory_test.present('What was it on 3 May 2026?') $$,
  $$ values ('episode', 0.300000), ('fact', 0.24), ('news', 0.24), ('other news', 0.048), ('rule', 0.24) $$,
  'facts gain by the time they hold from and rules by the time they were stored'
);

-- The specified ranking has none of this.

select memory_test.as_tenant('boosts');
select memory.configure('{
  "ranking": "specified", "boost_neighbors": 1, "boost_session": 1, "boost_named": 1, "min_relevance": 1,
  "min_evidence": 1, "meaning_weight": 0, "episode_meaning_weight": 0
}') \g /dev/null
select results_eq(
  $$ select m.content, m.semantic_rank, m.score = 1.0::float8 / (60 + m.semantic_rank) + 1.0::float8 / 71,
       m.neighbor_boost, m.session_boost, m.named_boost, m.time_boost, m.meaning, m.words
     from memory.search(
       'What did Bob say?', embedding => memory_test.axis(1), as_of => '2026-01-02Z'
     ) as m $$,
  $$ select v.content, v.position, true, null::float8, null::float8, null::float8, null::float8, null::float8,
       null::float8
     from (values
       (1::bigint, 'best'), (2, 'elsewhere'), (3, 'alone'), (4, 'first'), (5, 'third'), (6, 'fourth')
     ) as v (position, content) $$,
  'the specified ranking has no boosts, no floor and no evidence'
);
-- The second is (1 / 62 + 1 / 71) * 61 / 2 = 0.9215, the third 0.9137.
select results_eq(
  $$ select m.content from memory.search(
       'What did Bob say?', min_relevance => 0.92, embedding => memory_test.axis(1), as_of => '2026-01-02Z'
     ) as m $$,
  $$ values ('best'), ('elsewhere') $$,
  'the specified ranking has a floor if a call asks for one'
);
select memory.configure('{
  "ranking": "calibrated", "boost_neighbors": 1, "boost_session": 1, "boost_named": 1, "min_relevance": 0,
  "min_evidence": 0, "meaning_weight": 1, "episode_meaning_weight": 1
}') \g /dev/null
select ok(
  bool_and(m.relevance between 0 and 1) and max(m.relevance) = 1, 'relevance stays between 0 and 1'
)
from memory.rank_memories('Ada Bob', embedding => memory_test.axis(1), as_of => '2026-01-02Z') as m;

select * from finish();
rollback;
