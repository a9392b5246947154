begin;
\ir fixtures.sql
select plan(20);

-- How many texts are indexed in a language.
create function memory_test.indexed(language text)
  returns bigint
  language sql
as $$
  select count(*)
  from (
    select e.text_search_config from memory.episodes as e where e.tenant_id = memory.current_tenant()
    union all
    select f.text_search_config from memory.facts as f where f.tenant_id = memory.current_tenant()
    union all
    select r.text_search_config from memory.rules as r where r.tenant_id = memory.current_tenant()
  ) as m
  where m.text_search_config = indexed.language;
$$;

select memory_test.as_tenant('a');
select memory.store_fact(n::text, 'n', 'Running cats', as_of => '2026-01-01Z')
from generate_series(1, 230) as n \g /dev/null
select memory.store_episode('Running dogs', 'home', as_of => '2026-01-01Z') from generate_series(1, 20) \g /dev/null
select memory.store_rule('Feed the cats', as_of => '2026-01-01Z') \g /dev/null
select max(e.seq) as last_seq from memory.memory_events as e \gset

select memory.configure('{"text_search_config": "simple"}') \g /dev/null
select is(memory_test.indexed('simple'), 200::bigint, 'a change of language indexes 200 texts at once');
select is(memory_test.indexed('english'), 51::bigint, 'the other texts wait');
select is(
  (
    select array_agg(e.event_type || ' ' || e.payload order by e.seq)
    from memory.memory_events as e
    where e.tenant_id = 'a' and e.seq > :last_seq and e.event_type not like 'settings%'
  ),
  '{"texts_reindexed {\"memories\": 200, \"text_search_config\": \"simple\"}"}',
  'texts that are indexed again leave one event'
);

-- Meanwhile

select results_eq(
  format(
    'select count(*) from memory.keyword_search(''fact'', %L, max_results => 1000, keyword_match => %L) as m',
    q.query, q.keyword_match
  ),
  'values (230::bigint)',
  format('a query for %s of "%s" finds the texts of both languages', q.keyword_match, q.query)
)
from (values ('running', 'any'), ('running cats', 'all')) as q (query, keyword_match)
order by q.keyword_match;
select is(
  (
    select array_agg(distinct round(m.words::numeric, 2))
    from memory.query('running cats', types => '{fact}', max_results => 1000, as_of => '2026-01-02Z') as m
  ),
  '{0.98}', 'a text with all words of a query has as much of it in either language'
);
select is(
  (select count(*) from memory.query('"running cats" type:fact', max_results => 1000) as m), 230::bigint,
  'a phrase is found in both languages'
);
select is(
  (select count(*) from memory.keyword_search('rule', 'feed the cats') as m), 1::bigint,
  'a word that only one of the languages indexes does not hide a text of the other'
);
select is(
  (select count(*) from memory.keyword_search('fact', 'elephants') as m), 0::bigint,
  'what is in no text is still not found'
);
select is(
  (select f.message from memory.diagnose() as f where f.subject = 'text_search_config'),
  'indexed in another language than that of searches (simple): 51 memories',
  'the doctor says how many texts wait'
);
select alike(
  (select f.hint from memory.diagnose() as f where f.subject = 'text_search_config'),
  '%memory.reindex_texts()%', 'the doctor says what goes on with it'
);
select is(
  (select s.former_languages from memory.corpus_statistics as s where s.tenant_id = 'a' and s.memory_type = 'episode'),
  '{}', 'a type whose texts are all indexed again is done'
);

-- The rest

select throws_ok('select memory.reindex_texts(0)', 'PM002', null, 'a batch has at least one text');
select is(memory.reindex_texts(20), 20, 'a batch indexes as many texts as it is told');
select is(memory.reindex_texts(), 31, 'the last batch indexes what is left');
select is(memory.reindex_texts(), 0, 'then there is nothing to do');
select is(memory_test.indexed('simple'), 251::bigint, 'all texts are indexed in the new language');
select is(
  (select count(*) from memory.keyword_search('fact', 'run') as m), 0::bigint,
  'queries are no longer read in the former language'
);
select is(memory.recount_corpus_statistics(), false, 'the statistics of the corpus are right');
select memory.configure('{"index_rendering": "content"}') \g /dev/null
select is(
  (select count(*) from memory.episodes as e where e.tenant_id = 'a' and e.index_rendering = 'content'), 20::bigint,
  'a change of what is indexed of an episode goes the same way'
);

select * from finish();
rollback;
