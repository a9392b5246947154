begin;
\ir fixtures.sql
select plan(43);

-- BM25, by hand. Four live documents of 2, 3, 2 and 1 lexemes: on average 2.

create function memory_test.bm25(
  frequency float8,
  length float8,
  documents float8,
  corpus float8 default 4,
  average float8 default 2,
  k1 float8 default 0.9,
  b float8 default 0.4
)
  returns numeric
  language sql
  return round((
    ln(1 + (corpus - documents + 0.5) / (documents + 0.5))
    * frequency * (k1 + 1) / (frequency + k1 * (1 - b + b * length / average))
  )::numeric, 10);

select is(
  memory.term_frequency(to_tsvector('simple', repeat('tea ', n) || 'milk'), 'tea'), n::float8,
  format('the rank of a word that occurs %s times tells so', n)
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
select memory.configure('{"keyword_ranker": "bm25"}') \g /dev/null
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea', keyword_match => 'any') as m $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2)), ('green', memory_test.bm25(1, 2, 2)) $$,
  'BM25 weighs how often a word occurs against the length of the text'
);
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea green', keyword_match => 'any') as m $$,
  $$ values
     ('green', memory_test.bm25(1, 2, 2) + memory_test.bm25(1, 2, 1)), ('twice', memory_test.bm25(2, 3, 2)) $$,
  'and a rare word more than a common one'
);
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10) from memory.keyword_search('rule', 'tea milk') as m $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2) + memory_test.bm25(1, 3, 2)) $$,
  'where all words are asked for, each still counts by how many texts hold it'
);
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea', 'green', keyword_match => 'any') as m $$,
  $$ values ('green', memory_test.bm25(1, 2, 2)) $$,
  'the words of other scopes count too: a scope changes what is found, not what it weighs'
);
select results_eq(
  $$ select m.scope from memory.keyword_search('rule', 'tea', keyword_match => 'any', max_results => 1) as m $$,
  $$ values ('twice') $$,
  'the limit cuts the list of BM25'
);
select is_empty(
  $$ select * from memory.keyword_search('rule', 'the', keyword_match => 'any') $$,
  'a query of stop words finds nothing'
);
select is_empty(
  $$ select * from memory.keyword_search('fact', 'tea', keyword_match => 'any') $$,
  'nor does a query where nothing is stored'
);
select memory.configure('{"bm25_k1": 0}') \g /dev/null
select results_eq(
  $$ select distinct round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea', keyword_match => 'any') as m $$,
  $$ values (memory_test.bm25(1, 1, 2, k1 => 0)) $$,
  'with k1 at 0 it does not matter how often a word occurs'
);
select memory.configure('{"bm25_k1": 2, "bm25_b": 1}') \g /dev/null
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea', keyword_match => 'any') as m $$,
  $$ values
     ('twice', memory_test.bm25(2, 3, 2, k1 => 2, b => 1)), ('green', memory_test.bm25(1, 2, 2, k1 => 2, b => 1)) $$,
  'k1 and b are settings'
);
select memory.configure('{"bm25_k1": 0.9, "bm25_b": 0.4}') \g /dev/null
select is(
  (select m.keyword_rank from memory.rank_memories('tea', as_of => '2026-01-05Z') as m
    where m.scope = 'twice'),
  1::bigint,
  'recall ranks by BM25 too'
);
-- The corpus is what is live and of the tenant, folded or not.
select memory_test.as_tenant('bm25 of another');
select memory.store_rule('tea tea tea tea') as foreign_id \gset
select memory_test.as_tenant('bm25');
select memory.fold_corpus_statistics() \g /dev/null
select results_eq(
  $$ select m.scope, round(m.rank::numeric, 10)
     from memory.keyword_search('rule', 'tea', keyword_match => 'any') as m $$,
  $$ values ('twice', memory_test.bm25(2, 3, 2)), ('green', memory_test.bm25(1, 2, 2)) $$,
  'a fold changes no rank, nor does what another tenant stores'
);
select results_eq(
  $$ select c.documents, c.average_terms from memory.corpus_size('rule') as c $$,
  $$ values (4::bigint, 2::float8) $$,
  'the corpus is what is live'
);

-- The pool

select memory_test.as_tenant('pool');
select memory.register_embedding_version('model', '1') as pool_version_id \gset
insert into memory.rules (tenant_id, scope, content, embedding, embedding_version_id)
select 'pool', v.name, v.content, memory_test.near(v.similarity), :'pool_version_id'
from (values ('nearest', 'coffee', 0.9), ('both', 'tea milk', 0.8)) as v (name, content, similarity);
insert into memory.rules (tenant_id, scope, content) values ('pool', 'words', 'tea tea tea');
select memory.configure('{"candidate_pool": 1}') \g /dev/null
select results_eq(
  $$ select m.scope, m.semantic_rank, m.keyword_rank
     from memory.hybrid_search('rule', 'tea', memory_test.axis(1), max_results => 1) as m $$,
  $$ values ('nearest', 1::bigint, null::bigint) $$,
  'lists as deep as the answer do not see what is second in both'
);
select memory.configure('{"candidate_pool": 3}') \g /dev/null
select results_eq(
  $$ select m.scope, m.semantic_rank, m.keyword_rank
     from memory.hybrid_search('rule', 'tea', memory_test.axis(1), max_results => 1) as m $$,
  $$ values ('both', 2::bigint, 2::bigint) $$,
  'lists as deep as the pool do'
);

-- Fusion of scores: 40 % similarity scaled over the list, 60 % keyword weight over its maximum.

select memory_test.as_tenant('scores');
select memory.register_embedding_version('model', '1') as scores_version_id \gset
insert into memory.rules (tenant_id, scope, content, embedding, embedding_version_id)
select 'scores', v.name, v.content, memory_test.near(v.similarity), :'scores_version_id'
from (values ('near', 'coffee', 0.9), ('both', 'tea', 0.7), ('far', 'wine', 0.1)) as v (name, content, similarity);
insert into memory.rules (tenant_id, scope, content) values ('scores', 'words', 'tea tea');
select memory.configure('{"fusion": "scores"}') \g /dev/null
create view memory_test.fused_scores as
select m.scope, round(m.score::numeric, 6) as score
from memory.hybrid_search('rule', 'tea', memory_test.axis(1)) as m;
select results_eq(
  $$ select * from memory_test.fused_scores $$,
  $$ select v.scope, round(v.score::numeric, 6)
     from (values
       ('both', 0.4 * 0.6 / 0.8 + 0.6
         * (ts_rank(to_tsvector('tea'), 'tea') / ts_rank(to_tsvector('tea tea'), 'tea'))::numeric),
       ('words', 0.6), ('near', 0.4), ('far', 0.0)
     ) as v (scope, score) $$,
  'scores are added: what is in one list only has nothing of the other'
);
select memory.configure('{"semantic_share": 1}') \g /dev/null
select results_eq(
  $$ select * from memory_test.fused_scores $$,
  $$ values ('near', 1.000000), ('both', 0.750000), ('far', 0.000000), ('words', 0.000000) $$,
  'with the whole share the similarity decides'
);
select memory.configure('{"semantic_share": 0}') \g /dev/null
select results_eq(
  $$ select scope from memory_test.fused_scores limit 2 $$, $$ values ('words'), ('both') $$,
  'and with none the words'
);
select memory.configure('{"semantic_share": 0.4}') \g /dev/null
select results_eq(
  $$ select m.scope, round(m.score::numeric, 6)
     from memory.hybrid_search('rule', 'nothing of it', memory_test.near(0.9), max_results => 1) as m $$,
  $$ values ('near', 0.400000) $$,
  'a query whose words nothing holds goes by similarity'
);
select results_eq(
  $$ select m.scope, round(m.score::numeric, 6) from memory.hybrid_search('rule', 'wine', null) as m $$,
  $$ values ('far', 0.600000) $$,
  'and one without a vector by its words'
);
select is_empty(
  $$ select * from memory.hybrid_search('rule', '', null) $$, 'nothing is found for nothing'
);
select results_eq(
  $$ select m.scope, m.relevance = m.score, m.rrf_score > 0, m.neighbour_boost, m.session_boost, m.named_boost
     from memory.hybrid_search('rule', 'wine', null) as m $$,
  $$ values ('far', true, true, 0::float8, 0::float8, 0::float8) $$,
  'the parts of the score are told'
);
select memory.forget_memory('rule', r.id) from memory.rules as r
where r.tenant_id = 'scores' and r.scope <> 'both' \g /dev/null
select results_eq(
  $$ select * from memory_test.fused_scores $$, $$ values ('both', 1.000000) $$,
  'the only memory of both lists has the highest score'
);

-- Boosts

select memory_test.as_tenant('boosts');
select memory.register_embedding_version('model', '1') as boosts_version_id \gset
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
create function memory_test.boosted(settings jsonb, query text default 'what')
  returns table (content text, neighbours numeric, session numeric, named numeric, score numeric)
  language plpgsql
as $$
begin
  perform memory.configure(
    '{"fusion": "scores", "semantic_share": 1, "boost_neighbours": 0, "boost_session": 0,
      "boost_named": 0, "candidate_pool": 10}'
    || settings
  );
  return query
  select
    m.content, round(m.neighbour_boost::numeric, 4), round(m.session_boost::numeric, 4),
    round(m.named_boost::numeric, 4), round(m.score::numeric, 4)
  from memory.hybrid_search('episode', query, memory_test.axis(1)) as m;
end;
$$;
-- Scaled similarities: best 1, elsewhere 1/2, alone 5/12, first 1/3, third 1/6, fourth 0.
select results_eq(
  $$ select * from memory_test.boosted('{}') $$,
  $$ values
     ('best', 0.0000, 0.0000, 0.0000, 1.0000), ('elsewhere', 0, 0, 0, 0.5), ('alone', 0, 0, 0, 0.4167),
     ('first', 0, 0, 0, 0.3333), ('third', 0, 0, 0, 0.1667), ('fourth', 0, 0, 0, 0) $$,
  'without boosts nothing is added'
);
select results_eq(
  $$ select * from memory_test.boosted('{"boost_neighbours": 0.5}') $$,
  $$ values
     ('best', 0.1667, 0.0000, 0.0000, 0.7778), ('first', 0.5, 0, 0, 0.5556), ('third', 0.5, 0, 0, 0.4444),
     ('elsewhere', 0, 0, 0, 0.3333), ('alone', 0, 0, 0, 0.2778), ('fourth', 0.0833, 0, 0, 0.0556) $$,
  'a turn gains by the better of the turns before and after it in its session'
);
select results_eq(
  $$ select * from memory_test.boosted('{"boost_session": 0.5}') $$,
  $$ values
     ('best', 0.0000, 0.5000, 0.0000, 1.0000), ('first', 0, 0.5, 0, 0.5556), ('elsewhere', 0, 0.25, 0, 0.5),
     ('third', 0, 0.5, 0, 0.4444), ('fourth', 0, 0.5, 0, 0.3333), ('alone', 0, 0, 0, 0.2778) $$,
  'an episode gains by the best of its session, and one without a session nothing'
);
select results_eq(
  $$ select * from memory_test.boosted('{"boost_named": 0.5}', 'What did ADA''s friend say?') $$,
  $$ values
     ('best', 0.0000, 0.0000, 0.0000, 0.6667), ('first', 0, 0, 0.5, 0.5556), ('third', 0, 0, 0.5, 0.4444),
     ('elsewhere', 0, 0, 0, 0.3333), ('alone', 0, 0, 0, 0.2778), ('fourth', 0, 0, 0, 0) $$,
  'an episode gains if the query names its speaker by the whole name, in whatever case'
);
select is_empty(
  $$ select b.content from memory_test.boosted('{"boost_named": 0.5}', 'Adamant bobbing') as b
     where b.named > 0 $$,
  'nobody is named by a part of a word'
);
select is_empty(
  $$ select b.content from memory_test.boosted('{"boost_named": 0.5}', '') as b where b.named > 0 $$,
  'nor by nothing'
);
select results_eq(
  $$ select b.content, b.score
     from memory_test.boosted(
       '{"boost_neighbours": 1, "boost_session": 1, "boost_named": 1}', 'What did Bob say?'
     ) as b limit 1 $$,
  $$ values ('best', round((1 + 1.0 / 3 + 1 + 1) / 4, 4)) $$,
  'boosts add up, and the sum is over its maximum'
);
select memory.configure('{"boost_neighbours": 0.5, "candidate_pool": 1}') \g /dev/null
select results_eq(
  $$ select m.content, m.neighbour_boost
     from memory.hybrid_search('episode', 'what', memory_test.axis(1), max_results => 1) as m $$,
  $$ values ('best', 0::float8) $$,
  'a turn that is no candidate lends nothing'
);
select memory.configure('{
  "fusion": "rrf", "boost_neighbours": 0, "boost_session": 0.2, "boost_named": 0
}') \g /dev/null
select results_eq(
  $$ select m.content, m.score = m.relevance, m.score < m.rrf_score * 61 / 2 + 0.2
     from memory.hybrid_search('episode', 'what', memory_test.axis(1), max_results => 1) as m $$,
  $$ values ('best', true, true) $$,
  'ranks can be boosted as well as scores'
);
select ok(
  bool_and(m.relevance between 0 and 1), 'relevance stays within its range'
)
from memory.rank_memories('Ada Bob', embedding => memory_test.axis(1)) as m;

-- Facts are about their subject or entity.

select memory_test.as_tenant('named');
insert into memory.entities (tenant_id, id, canonical_name, entity_type, aliases)
values ('named', '00000000-0000-0000-0000-0000000000e1', 'Grace Hopper', 'person', '{Amazing Grace}');
select memory.store_fact('Ada', 'likes', 'tea') as ada_id \gset
select memory.store_fact('the admiral', 'likes', 'tea', entity_id => '00000000-0000-0000-0000-0000000000e1')
as grace_id \gset
select memory.store_fact('Bob', 'likes', 'tea') as bob_id \gset
select memory.configure('{"boost_named": 0.5}') \g /dev/null
select is(
  (
    select string_agg(m.subject, ', ' order by m.subject)
    from memory.hybrid_search('fact', 'tea ' || q.query) as m
    where m.named_boost > 0
  ),
  q.expected, q.what
)
from (values
  (1, 'Ada?', 'Ada', 'a fact whose subject is named gains'),
  (2, 'of Grace Hopper', 'the admiral', 'and one whose entity is named'),
  (3, 'of amazing grace', 'the admiral', 'by whichever of its names'),
  (4, 'of Grace', null, 'but not by half a name'),
  (5, 'Bob and Ada', 'Ada, Bob', 'several may be named')
) as q (position, query, expected, what)
order by q.position;

select * from finish();
rollback;
