begin;
\ir fixtures.sql
select plan(30);

-- Every 128th change folds what waits, and files before this one count, too.
select setval(pg_get_serial_sequence('memory.corpus_deltas', 'id'), 128 * 500000) \g /dev/null

-- The statistics of the corpus, as kept and as counted again.
create view memory_test.kept as
select c.tenant_id, c.memory_type, sum(c.documents) as documents, sum(c.terms) as terms
from (
  select s.tenant_id, s.memory_type, s.documents, s.terms from memory.corpus_statistics as s
  union all
  select d.tenant_id, d.memory_type, d.documents, d.terms from memory.corpus_deltas as d
) as c
group by 1, 2
having sum(c.documents) <> 0 or sum(c.terms) <> 0;
create view memory_test.counted as
select m.tenant_id, m.memory_type, count(*)::numeric as documents, sum(length(m.search_vector))::numeric as terms
from memory.searchable_memories as m
where m.is_live
group by 1, 2;
create function memory_test.is_exact(what text)
  returns text
  language sql
  return set_eq(
    'select * from memory_test.kept', 'select * from memory_test.counted', what
  );

select is_empty($$ select * from memory_test.kept $$, 'a new database has an empty corpus');

select memory.store_episode('Met Ada at the station', 'home') as episode_id \gset
select memory.store_fact('Ada', 'likes', 'green tea') as fact_id \gset
select memory.store_rule('Ask before you call') as rule_id \gset
select memory_test.is_exact('the statistics are exact after each kind of store');
select is(
  (select sum(k.documents) from memory_test.kept as k), 3::numeric, 'each stored memory counts once'
);
select memory.store_fact('Ada', 'likes', 'black tea and coffee beans') as newer_id \gset
select memory_test.is_exact('the statistics are exact after a fact is superseded');
select memory.forget_memory('fact', :'newer_id') \g /dev/null
select memory_test.is_exact('the statistics are exact after a fact is retracted');
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select memory_test.is_exact('the statistics are exact after a rule is forgotten');
select memory.store_rule('Wait before you call again') as other_rule_id \gset
update memory.rules as r set metadata = '{"status": "fading"}' where r.id = :'other_rule_id';
select memory_test.is_exact('the statistics are exact after a rule fades');
update memory.rules as r set content = 'Wait' where r.id = :'other_rule_id';
select memory_test.is_exact('the statistics are exact after the text of a rule changes');
select memory.configure('{"text_search_config": "simple", "index_rendering": "content"}') \g /dev/null
select memory_test.is_exact('the statistics are exact after memories are indexed again');
select * from memory.store_episodes(
  '[{"butler": "home", "content": "one two"}, {"butler": "home", "content": "three"}]'
) \g /dev/null
select memory_test.is_exact('the statistics are exact after a batch is stored');
insert into memory.facts (tenant_id, subject, predicate, content, validity)
select 'b', 'subject ' || i, 'is', repeat('word ', i), case when i % 2 = 0 then 'active' else 'expired' end
from generate_series(1, 10) as i;
select memory_test.is_exact('the statistics count what is live of an import for another tenant');
update memory.facts as f set validity = 'expired' where f.tenant_id = 'b' and f.subject = 'subject 2';
select memory_test.is_exact('the statistics are exact after a fact expires');
update memory.facts as f set reference_count = 9;
select memory_test.is_exact('the statistics are exact after references are counted');
delete from memory.episodes as e where e.content in ('three', 'one two');
select memory_test.is_exact('the statistics are exact after episodes are deleted');

-- Folding

select memory_test.as_tenant('a');
select isnt_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'a' $$,
  'changes to the statistics wait to be folded'
);
select ok(memory.fold_corpus_statistics() > 0, 'a fold returns how many changes it folded');
select is_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'a' $$,
  'no change waits after a fold'
);
select isnt_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'b' $$,
  'a fold leaves the changes of another tenant waiting'
);
select memory_test.is_exact('the statistics are exact after a fold');
select is(memory.fold_corpus_statistics(), 0::bigint, 'a second fold has nothing to fold');
select memory_test.is_exact('the statistics are exact after a second fold');

-- Past the triggers

select memory_test.as_tenant('past');
select memory.store_rule('tea') as past_id \gset
set local session_replication_role = replica;
insert into memory.rules (tenant_id, content, search_vector, last_confirmed_at)
values ('past', 'milk and sugar', 'milk sugar', now());
set local session_replication_role = origin;
select is(
  memory.recount_corpus_statistics(), true, 'a recount returns true if the statistics were wrong'
);
select memory_test.is_exact('a recount corrects the statistics');
select is(
  memory.recount_corpus_statistics(), false, 'a recount returns false if the statistics were right'
);
select memory_test.as_tenant('vanished');
select memory.store_rule('tea') \g /dev/null
set local session_replication_role = replica;
delete from memory.rules as r where r.tenant_id = 'vanished';
set local session_replication_role = origin;
select is(memory.recount_corpus_statistics(), true, 'a recount sees that the last memory has vanished');
select memory_test.is_exact('then nothing is counted');
select memory_test.as_tenant('past');
set local session_replication_role = replica;
delete from memory.corpus_statistics as s where s.tenant_id = 'past';
set local session_replication_role = origin;
select memory.forget_memory('rule', :'past_id') \g /dev/null
select lives_ok(
  $$ select memory.fold_corpus_statistics() $$, 'folding wrong statistics raises no error'
);
select memory.recount_corpus_statistics() \g /dev/null

-- Stores fold from time to time.
select memory_test.as_tenant('many');
select setval(pg_get_serial_sequence('memory.corpus_deltas', 'id'), 128 * 1000000) \g /dev/null
select memory.store_rule('rule ' || i) from generate_series(1, 300) as i \g /dev/null
select is(
  (select count(*) from memory.corpus_deltas as d where d.tenant_id = 'many'), 300 - 2 * 128::bigint,
  'every 128th store folds what waits'
);
select setval(pg_get_serial_sequence('memory.corpus_deltas', 'id'), 128 * 2000000) \g /dev/null
select memory.forget_memory('rule', r.id) from memory.rules as r where r.tenant_id = 'many' \g /dev/null
select is(
  (select count(*) from memory.corpus_deltas as d where d.tenant_id = 'many'), 300 - 2 * 128::bigint,
  'so does every 128th change'
);
select memory.store_rule('rule ' || i) from generate_series(1, 3) as i \g /dev/null
select memory_test.is_exact('the statistics are exact after many stores');

select * from finish();
rollback;
