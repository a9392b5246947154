begin;
\ir fixtures.sql
select plan(27);

-- The statistics of the corpus, as kept and as counted anew.
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
select memory_test.is_exact('each store counts');
select is((select sum(k.documents) from memory_test.kept as k), 3::numeric, 'once');
select memory.store_fact('Ada', 'likes', 'black tea and coffee beans') as newer_id \gset
select memory_test.is_exact('a superseded fact counts no more');
select memory.forget_memory('fact', :'newer_id') \g /dev/null
select memory_test.is_exact('nor does a retracted one');
select memory.forget_memory('rule', :'rule_id') \g /dev/null
select memory_test.is_exact('nor does a forgotten rule');
select memory.store_rule('Wait before you call again') as other_rule_id \gset
update memory.rules as r set metadata = '{"status": "fading"}' where r.id = :'other_rule_id';
select memory_test.is_exact('fading changes nothing');
update memory.rules as r set content = 'Wait' where r.id = :'other_rule_id';
select memory_test.is_exact('a changed text counts with its new length');
select memory.configure('{"text_search_config": "simple", "index_rendering": "content"}') \g /dev/null
select memory_test.is_exact('and so does one that is indexed anew');
select * from memory.store_episodes(
  '[{"butler": "home", "content": "one two"}, {"butler": "home", "content": "three"}]'
) \g /dev/null
select memory_test.is_exact('a batch counts');
insert into memory.facts (tenant_id, subject, predicate, content, validity)
select 'b', 'subject ' || i, 'is', repeat('word ', i), case when i % 2 = 0 then 'active' else 'expired' end
from generate_series(1, 10) as i;
select memory_test.is_exact('of an import what is live counts, for whichever tenant');
update memory.facts as f set validity = 'expired' where f.tenant_id = 'b' and f.subject = 'subject 2';
select memory_test.is_exact('an expired fact counts no more');
update memory.facts as f set reference_count = 9;
select memory_test.is_exact('a reference changes nothing');
delete from memory.episodes as e where e.content in ('three', 'one two');
select memory_test.is_exact('deleted episodes count no more');

-- Folding

select memory_test.as_tenant('a');
select isnt_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'a' $$,
  'changes wait to be folded'
);
select ok(memory.fold_corpus_statistics() > 0, 'a fold tells how many there were');
select is_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'a' $$, 'none waits after the fold'
);
select isnt_empty(
  $$ select * from memory.corpus_deltas as d where d.tenant_id = 'b' $$,
  'those of another tenant still do'
);
select memory_test.is_exact('folded or not, the statistics are exact');
select is(memory.fold_corpus_statistics(), 0::bigint, 'a second fold finds nothing to do');
select memory_test.is_exact('and changes nothing');

-- Past the triggers

select memory_test.as_tenant('past');
select memory.store_rule('tea') as past_id \gset
set local session_replication_role = replica;
insert into memory.rules (tenant_id, content, search_vector, last_confirmed_at)
values ('past', 'milk and sugar', 'milk sugar', now());
set local session_replication_role = origin;
select is(memory.recount_corpus_statistics(), true, 'a recount tells that the statistics were off');
select memory_test.is_exact('and puts them right');
select is(memory.recount_corpus_statistics(), false, 'once');
set local session_replication_role = replica;
delete from memory.corpus_statistics as s where s.tenant_id = 'past';
set local session_replication_role = origin;
select memory.forget_memory('rule', :'past_id') \g /dev/null
select lives_ok($$ select memory.fold_corpus_statistics() $$, 'statistics that are off are no error');
select memory.recount_corpus_statistics() \g /dev/null

-- Stores fold by themselves now and then.
select memory_test.as_tenant('many');
select memory.store_rule('rule ' || i) from generate_series(1, 300) as i \g /dev/null
select ok(
  (select count(*) from memory.corpus_deltas as d where d.tenant_id = 'many') < 130,
  'what waits stays little, though nobody sweeps'
);
select memory_test.is_exact('and the statistics exact');

select * from finish();
rollback;
