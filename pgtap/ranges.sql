begin;
\ir fixtures.sql
select plan(4);

-- What a call is refused with; NULL if it is not. It leaves nothing behind.
create function memory_test.refusal(call text)
  returns text
  language plpgsql
as $$
begin
  execute 'select from memory.' || call;
  raise exception 'made' using errcode = 'XX999';
exception
  when sqlstate 'XX999' then return null;
  when others then return sqlstate || ' ' || sqlerrm;
end;
$$;

select memory_test.as_tenant('a');
select memory.register_embedding_version('model', '1') \g /dev/null
select memory.store_fact('Ada', 'drinks', 'tea', embedding => memory_test.axis(1), as_of => '2026-01-01Z') as fact \gset
select memory.entity_create('Ada', 'person') as entity \gset
select id as entry from memory.create_entry('tea', as_of => '2026-01-01Z') \gset
select memory.store_episode('Ada drinks tea', 'home') as episode \gset
select run_id as run from memory.claim_episodes('home') \gset
select memory.store_episode('Ada drinks milk', 'work') \g /dev/null

create table memory_test.numbers (call text, lowest numeric, highest numeric, step numeric);
insert into memory_test.numbers
select replace(c.call, c.argument || ' => _', c.argument || ' => %s'), r.lowest, r.highest, r.step
from (values
  ('score', 0, 1, 0.001), ('importance', 0, 10, 0.001), ('results', 1, null, 1), ('many results', 1, 10000, 1),
  ('depth', 1, 5, 1), ('up to 1000', 0, 1000, 1), ('from 1 to 1000', 1, 1000, 1), ('points', 2, 1000, 1),
  ('batch', 1, 10000, 1), ('tokens', 1, 10000000, 1), ('likeness', 0.5, 1, 0.001),
  ('million', 1, 1000000, 1), ('events', 1, 100000000, 1), ('kept', 0, 1000000000, 1), ('deletions', 1, 100000, 1),
  ('sample', 10, 2000, 1)
) as r (name, lowest, highest, step)
join (values
  ('importance', 'importance', 'store_episode(''x'', ''home'', importance => _)'),
  ('importance', 'importance', 'store_fact(''a'', ''b'', ''c'', importance => _)'),
  ('score', 'confidence', 'store_fact(''a'', ''b'', ''c'', confidence => _)'),
  ('importance', 'importance', 'store_rule(''c'', importance => _)'),
  ('score', 'confidence', 'store_rule(''c'', confidence => _)'),
  ('importance', 'importance', 'store_messages(''[{"role": "user", "content": "x"}]'', ''home'', importance => _)'),
  ('importance', 'importance', 'create_entry(''x'', importance => _)'),
  ('score', 'confidence', 'create_entry(''x'', confidence => _)'),
  ('importance', 'importance', 'update_entry(''entry'', importance => _)'),
  ('score', 'confidence', 'update_entry(''entry'', confidence => _)'),
  ('results', 'max_results', 'search(''x'', max_results => _)'),
  ('score', 'min_confidence', 'search(''x'', min_confidence => _)'),
  ('score', 'min_relevance', 'search(''x'', min_relevance => _)'),
  ('results', 'max_results', 'recall(''x'', max_results => _)'),
  ('score', 'min_confidence', 'recall(''x'', min_confidence => _)'),
  ('score', 'min_relevance', 'recall(''x'', min_relevance => _)'),
  ('score', 'min_confidence', 'rank_memories(''x'', min_confidence => _)'),
  ('score', 'min_relevance', 'rank_memories(''x'', min_relevance => _)'),
  ('results', 'max_results', 'recall_explain(''x'', max_results => _)'),
  ('score', 'min_confidence', 'recall_explain(''x'', min_confidence => _)'),
  ('score', 'min_relevance', 'recall_explain(''x'', min_relevance => _)'),
  ('results', 'max_results', 'semantic_search(''fact'', embedding => memory_test.axis(1), max_results => _)'),
  ('results', 'max_results', 'keyword_search(''fact'', ''x'', max_results => _)'),
  ('results', 'max_results', 'hybrid_search(''fact'', ''x'', max_results => _)'),
  ('score', 'min_relevance', 'context(''x'', ''home'', min_relevance => _)'),
  ('results', 'max_results', 'query(''x'', max_results => _)'),
  ('score', 'min_relevance', 'query(''x'', min_relevance => _)'),
  ('results', 'max_results', 'retrieve_entries(''x'', max_results => _)'),
  ('score', 'min_relevance', 'retrieve_entries(''x'', min_relevance => _)'),
  ('score', 'confidence_min', 'retrieve_entries(''x'', confidence_min => _)'),
  ('score', 'confidence_max', 'retrieve_entries(''x'', confidence_max => _)'),
  ('results', 'max_results', 'query_memory(''x'', max_results => _)'),
  ('results', 'max_results', 'list_memories(max_results => _)'),
  ('score', 'min_confidence', 'list_memories(min_confidence => _)'),
  ('score', 'max_confidence', 'list_memories(max_confidence => _)'),
  ('million', 'at_most', 'count_memories(at_most => _)'),
  ('results', 'max_results', 'memories_as_of(''2026-01-02Z'', max_results => _)'),
  ('results', 'max_results', 'diff_as_of(''2026-01-02Z'', max_results => _)'),
  ('from 1 to 1000', 'buckets', 'change_density(buckets => _)'),
  ('points', 'points', 'decay_curve(''fact'', ''fact'', points => _)'),
  ('results', 'max_results', 'list_related(''fact'', ''fact'', max_results => _)'),
  ('depth', 'max_depth', 'list_related(''fact'', ''fact'', max_depth => _)'),
  ('results', 'max_results', 'list_contradictions(max_results => _)'),
  ('results', 'max_results', 'list_scopes(max_results => _)'),
  ('results', 'max_results', 'list_entities(max_results => _)'),
  ('results', 'max_results', 'merge_suggestions(max_results => _)'),
  ('depth', 'max_depth', 'entity_neighbors(''entity'', max_depth => _)'),
  ('from 1 to 1000', 'max_results', 'entity_neighbors(''entity'', max_results => _)'),
  ('from 1 to 1000', 'max_results', 'entity_resolve(''Ada'', max_results => _)'),
  ('many results', 'max_results', 'list_events(max_results => _)'),
  ('many results', 'max_results', 'get_links(''fact'', ''fact'', max_results => _)'),
  ('many results', 'max_results', 'list_imports(max_results => _)'),
  ('many results', 'max_results', 'list_consolidation_runs(max_results => _)'),
  ('many results', 'max_results', 'verify_chain(max_results => _)'),
  ('events', 'max_events', 'seal_events(max_events => _)'),
  ('results', 'max_results', 'list_approvals(max_results => _)'),
  ('up to 1000', 'max_facts', 'get_consolidation_context(''home'', max_facts => _)'),
  ('up to 1000', 'max_rules', 'get_consolidation_context(''home'', max_rules => _)'),
  ('batch', 'batch_size', 'claim_episodes(batch_size => _)'),
  ('tokens', 'max_tokens', 'claim_episodes(max_tokens => _)'),
  ('batch', 'batch_size', 'claim_embedding_jobs(batch_size => _)'),
  ('sample', 'sample_size', 'calibrate_similarity(sample_size => _)'),
  ('batch', 'batch_size', 'reindex_texts(batch_size => _)'),
  ('from 1 to 1000', 'sample', 'measure_index_recall(sample => _)'),
  ('from 1 to 1000', 'depth', 'measure_index_recall(depth => _)'),
  ('kept', 'max_entries', 'run_episode_cleanup(max_entries => _)'),
  ('deletions', 'batch_size', 'run_episode_cleanup(batch_size => _)'),
  ('likeness', 'min_similarity', 'consolidate_entries(min_similarity => _)'),
  ('million', 'max_entries', 'consolidate_entries(max_entries => _)'),
  ('likeness', 'min_similarity', 'list_entry_clusters(min_similarity => _)'),
  ('batch', 'batch_size', 'export_entries(batch_size => _)'),
  ('batch', 'batch_size', 'export_memories(''fact'', batch_size => _)')
) as c (range, argument, call) on c.range = r.name;
update memory_test.numbers as n
set call = replace(replace(replace(n.call, '''fact'', ''fact''', format('''fact'', %L', :'fact')), '''entity''', quote_literal(:'entity')), '''entry''', quote_literal(:'entry'));

select is_empty(
  $$ select n.call, v.value, a.answer
     from memory_test.numbers as n
     cross join lateral (values
       (n.lowest, false), (n.highest, false), (n.lowest - n.step, true), (n.highest + n.step, true)
     ) as v (value, is_refused)
     cross join lateral (select memory_test.refusal(format(n.call, '(' || v.value || ')')) as answer) as a
     where v.value is not null and v.is_refused <> (coalesce(a.answer, '') ~ '^PM002') $$,
  'a number is taken at both ends of its range, and refused beyond'
);

create table memory_test.texts as
select *
from (values
  ('content', 1048576, 'store_episode(%L, ''home'')'), ('content', 1048576, 'store_fact(''a'', ''b'', %L)'),
  ('content', 1048576, 'store_rule(%L)'), ('content', 1048576, 'create_entry(%L)'),
  ('content', 1048576, 'update_entry(''entry'', %L)'),
  ('butler', 128, 'store_episode(''x'', %L)'), ('subject', 512, 'store_fact(%L, ''b'', ''c'')'),
  ('predicate', 512, 'store_fact(''a'', %L, ''c'')'), ('scope', 128, 'store_fact(''a'', ''b'', ''c'', scope => %L)'),
  ('scope', 128, 'store_rule(''x'', scope => %L)'), ('scope', 128, 'create_entry(''x'', scope => %L)'),
  ('category', 128, 'create_entry(''x'', category => %L)'), ('category', 128, 'update_entry(''entry'', category => %L)'),
  ('user_id', 128, 'create_entry(''x'', user_id => %L)'), ('persona_id', 128, 'create_entry(''x'', persona_id => %L)'),
  ('session_id', 128, 'create_entry(''x'', session_id => %L)'),
  ('user_id', 128, 'query_memory(''x'', user_id => %L)'), ('user_id', 128, 'grant_approval(''write_sensitive'', ''health'', user_id => %L)'),
  ('canonical_name', 512, 'entity_create(%L, ''person'')'), ('canonical_name', 512, 'entity_update(''entity'', %L)'),
  ('alias', 512, 'entity_create(''Bob'', ''person'', aliases => array[%L])'), ('name', 512, 'entity_resolve(%L)'),
  ('query', 512, 'list_entities(%L)'), ('scope', 128, 'list_memories(scope => %L)'),
  ('scope', 128, 'list_contradictions(%L)'), ('scope', 128, 'diff_as_of(''2026-01-02Z'', scope => %L)'),
  ('butler', 128, 'get_consolidation_context(%L)'), ('name', 128, 'create_access_token(%L, ''reader'')'),
  ('idempotency_key', 200, 'store_fact(''a'', ''b'', ''c'', idempotency_key => %L)')
) as t (argument, octets, call);
update memory_test.texts as t
set call = replace(replace(t.call, '''entity''', quote_literal(:'entity')), '''entry''', quote_literal(:'entry'));

select is_empty(
  $$ select t.call, v.octets, left(a.answer, 100)
     from memory_test.texts as t
     cross join lateral (values (1, false), (t.octets, false), (t.octets + 1, true)) as v (octets, is_refused)
     cross join lateral (select memory_test.refusal(format(t.call, repeat('x', v.octets))) as answer) as a
     where v.is_refused <> (coalesce(a.answer, '') ~ '^PM002') $$,
  'a text is taken up to its length in bytes, and refused beyond'
);
select is_empty(
  $$ select t.call, v.value
     from memory_test.texts as t
     cross join (values (''), (' ')) as v (value)
     where t.argument not in ('category', 'query', 'idempotency_key')
       and coalesce(memory_test.refusal(format(t.call, v.value)), '') !~ '^PM002' $$,
  'an empty text is refused'
);

select results_eq(
  $$ select memory.check_limit(n) from unnest('{1,1000,1001,2147483647}'::integer[]) as n $$,
  $$ values (1), (1000), (1000), (1000) $$, 'more than 1000 results of a search or list are not refused, but capped'
);

select * from finish();
rollback;
