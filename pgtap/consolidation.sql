begin;
\ir fixtures.sql
select plan(101);

-- Claims

select memory.store_episode('e' || n, 'home', created_at => '2026-01-01Z'::timestamptz + n * interval '1 hour', as_of => '2026-01-01Z')
from generate_series(5, 1, -1) as n \g /dev/null
select memory.store_episode('w1', 'work', created_at => '2026-01-01T02:30Z', as_of => '2026-01-01Z') \g /dev/null
select memory_test.as_tenant('b') \g /dev/null
select memory.store_episode('other', 'home', as_of => '2026-01-01Z') \g /dev/null
select memory_test.as_tenant('a') \g /dev/null

select is(
  (
    select array_agg(e.item ->> 'content' order by e.place)
    from jsonb_array_elements(
      memory.preview_batch('home', batch_size => 2, as_of => '2026-01-02Z') -> 'episodes'
    ) with ordinality as e (item, place)
  ),
  '{e1,e2}', 'a preview shows the batch that a worker would get'
);
select is(
  memory.preview_batch(as_of => '2026-01-02Z') -> 'known' -> 'facts', '[]',
  'a preview tells what is known'
);
select is(
  memory.preview_batch('nobody', as_of => '2026-01-02Z'), null,
  'there is no preview of nothing'
);
select is_empty('select * from memory.consolidation_runs', 'a preview claims nothing');

create table memory_test.claims as
select 1 as claim, c.* from memory.claim_episodes(batch_size => 3, as_of => '2026-01-02Z') with ordinality as c;
select results_eq(
  $$ select c.content, c.episode_butler, c.ordinality from memory_test.claims as c order by c.ordinality $$,
  $$ values ('e1', 'home', 1::bigint), ('e2', 'home', 2), ('e3', 'home', 3) $$,
  'a worker claims the oldest episodes of the butler whose oldest waits longest'
);
insert into memory_test.claims
select 2, c.* from memory.claim_episodes(batch_size => 3, as_of => '2026-01-02Z') with ordinality as c;
select results_eq(
  $$ select c.content from memory_test.claims as c where c.claim = 2 $$, $$ values ('w1') $$,
  'the next worker claims the episodes of another butler'
);
select is_empty(
  $$ select * from memory.claim_episodes(as_of => '2026-01-02Z') $$,
  'a third worker has nothing to claim'
);
select is_empty(
  $$ select * from memory.claim_episodes('home', as_of => '2026-01-02Z') $$,
  'a butler that a worker holds cannot be claimed by name'
);
select is(
  memory.preview_batch('home', as_of => '2026-01-02Z'), null,
  'nor is there a preview of what a worker holds'
);
select is(
  (select count(distinct c.run_id) from memory_test.claims as c), 2::bigint,
  'each claim starts a run of its own'
);
select results_eq(
  $$ select r.butler, r.status, cardinality(r.episode_ids), r.leased_until from memory.list_consolidation_runs() as r order by 1 $$,
  $$ values ('home', 'running', 3, '2026-01-02T00:15Z'::timestamptz), ('work', 'running', 1, '2026-01-02T00:15Z') $$,
  'an unfinished run holds the lease of its episodes'
);
select run_id as home_run from memory_test.claims where claim = 1 limit 1 \gset
select run_id as work_run from memory_test.claims where claim = 2 \gset
select is(
  memory.extend_lease(:'work_run', '1 hour', '2026-01-02T00:10Z'), '2026-01-02T01:10Z'::timestamptz,
  'a lease can be extended'
);
select is(
  memory.extend_lease(:'work_run', '1 second', '2026-01-02T00:10Z'), '2026-01-02T01:10Z'::timestamptz,
  'extending a lease never shortens it'
);
select results_eq(
  $$ select c.content from memory.claim_episodes(as_of => '2026-01-02T00:15Z', lease => '3 days') as c $$,
  $$ values ('e1'), ('e2'), ('e3'), ('e4'), ('e5') $$,
  'episodes can be claimed again after their lease ends'
);
select is(
  (select r.status from memory.consolidation_runs as r where r.id = :'home_run'), 'abandoned',
  'a run is abandoned when its episodes are claimed again'
);
select throws_ok(
  format($$ select memory.apply_consolidation(%L, '{}', as_of => '2026-01-02T00:16Z') $$, :'home_run'), 'PM003',
  format('consolidation run %s is abandoned and no longer yours', :'home_run'),
  'an abandoned run cannot be applied'
);
select throws_ok(
  format($$ select memory.fail_consolidation(%L, 'late', as_of => '2026-01-02T00:16Z') $$, :'home_run'), 'PM003', null,
  'an abandoned run cannot fail'
);
select throws_ok(
  format($$ select memory.extend_lease(%L, as_of => '2026-01-02T00:16Z') $$, :'home_run'), 'PM003', null,
  'the lease of an abandoned run cannot be extended'
);
select id as home_run from memory.consolidation_runs where butler = 'home' and tenant_id = 'a' and status = 'running' \gset

-- Failing

select results_eq(
  format($$ select f.* from memory.fail_consolidation(%L, E'no\nanswer', 'v1', 'llm', as_of => '2026-01-02T00:16Z') as f $$, :'work_run'),
  $$ values (1::bigint, 0::bigint) $$,
  'fail_consolidation counts the episodes that will be retried and the dead letters'
);
select results_eq(
  $$ select e.consolidation_status::text, e.consolidation_attempts, e.last_consolidation_error, e.next_consolidation_retry_at
     from memory.episodes as e where e.content = 'w1' $$,
  $$ values ('failed', 1, 'no answer', '2026-01-02T00:18Z'::timestamptz) $$,
  'the episodes of a failed run wait two minutes for the first retry'
);
select is_empty(
  $$ select * from memory.claim_episodes('work', as_of => '2026-01-02T00:17Z') $$,
  'a failed episode cannot be claimed before its retry is due'
);
select distinct run_id as work_run from memory.claim_episodes('work', as_of => '2026-01-02T00:18Z') \gset
select memory.fail_consolidation(:'work_run', 'again', as_of => '2026-01-02T00:18Z') \g /dev/null
select is(
  (select e.next_consolidation_retry_at from memory.episodes as e where e.content = 'w1'),
  '2026-01-02T00:22Z'::timestamptz, 'the second retry waits four minutes'
);
create procedure memory_test.fail_until_dead()
  language plpgsql
as $$
declare
  v_run uuid;
begin
  for n in 1..3 loop
    select c.run_id into v_run from memory.claim_episodes('work', as_of => '2026-01-02T10:00Z'::timestamptz + n * interval '1 hour') as c;
    perform memory.fail_consolidation(v_run, 'again', as_of => '2026-01-02T10:00Z'::timestamptz + n * interval '1 hour');
  end loop;
end;
$$;
call memory_test.fail_until_dead();
select results_eq(
  $$ select e.consolidation_status::text, e.consolidation_attempts, e.next_consolidation_retry_at from memory.episodes as e where e.content = 'w1' $$,
  $$ values ('dead_letter', 5, null::timestamptz) $$,
  'an episode is a dead letter after five failed attempts'
);
select is_empty(
  $$ select * from memory.claim_episodes('work', as_of => '2026-01-03Z') $$,
  'a dead letter cannot be claimed'
);
select id as w1 from memory.episodes where content = 'w1' \gset
select is(
  memory_test.events_of(:'w1'),
  '{episode_created,episode_updated,episode_failed,episode_updated,episode_updated,episode_updated,episode_updated,episode_dead_lettered}',
  'every failed attempt writes an event'
);
select is(
  memory.requeue_episodes(as_of => '2026-01-03Z'), 1::bigint, 'dead letters can be requeued'
);
select results_eq(
  $$ select c.content from memory.claim_episodes('work', as_of => '2026-01-03Z') as c $$, $$ values ('w1') $$,
  'a requeued episode can be claimed again'
);
select is(
  memory.requeue_episodes(as_of => '2026-01-03Z'), 0::bigint,
  'requeueing again finds no dead letter'
);

-- What is due

select results_eq(
  $$ select d.butler, d.waiting, d.is_running, d.is_due from memory.list_due_consolidations('2026-01-02T00:15:30Z') as d $$,
  $$ values ('home', 5::bigint, true, false), ('work', 1, true, false) $$,
  'a butler with an unfinished run is not due'
);
select results_eq(
  $$ select d.is_running, d.leased_until
     from (select max(r.leased_until) as ends_at from memory.consolidation_runs as r where r.status = 'running' and r.butler = 'home') as l
     cross join lateral memory.list_due_consolidations(l.ends_at) as d
     where d.butler = 'home' $$,
  $$ values (false, null::timestamptz) $$, 'a lease that ends now is over'
);
select memory.store_episode('n' || n, 'new', as_of => '2026-01-03Z') from generate_series(1, 3) as n \g /dev/null
select is(
  (select d.is_due from memory.list_due_consolidations('2026-01-03Z') as d where d.butler = 'new'), true,
  'a butler that never had a run is due'
);

-- Applying

select memory.store_fact('Ada', 'lives in', 'Paris', scope => 'home', as_of => '2026-01-01Z') as stated \gset
select memory.store_fact('Ada', 'likes', 'tea', scope => 'home', as_of => '2026-01-01Z') as likes \gset
select memory.store_fact('Bob', 'secret', 'x', scope => 'work', as_of => '2026-01-01Z') as foreign_fact \gset
select memory.store_rule('Be brief', scope => 'home', as_of => '2026-01-01Z') as rule \gset
select id as e1 from memory.episodes where content = 'e1' and tenant_id = 'a' \gset
select id as e2 from memory.episodes where content = 'e2' and tenant_id = 'a' \gset
select (r).* from memory.apply_consolidation(
  :'home_run',
  memory_test.cited(:'home_run', format(
    '{
      "new_facts": [
        {"subject": "Ada", "predicate": "cat", "content": "Tom", "permanence": "permanent", "importance": 8,
         "tags": ["pet"], "evidence": ["%1$s", "%2$s"]},
        {"subject": "ada ", "predicate": "age", "content": "40", "confidence": 0.4},
        {"subject": "ada ", "predicate": "sight", "content": "40", "evidence": []},
        {"subject": "Ada", "predicate": "lives in", "content": "Rome", "evidence": ["%1$s"]},
        {"subject": "Ada", "predicate": "likes", "content": " TEA"},
        {"subject": "", "predicate": "p", "content": "c"},
        {"subject": "Ada", "predicate": "shoe", "content": "38", "evidence": ["%6$s"]},
        {"subject": "Ada", "predicate": "hat", "content": "red", "scope": "work"},
        "junk"
      ],
      "updated_facts": [
        {"target_id": "%3$s", "subject": "Ada", "predicate": "likes", "content": "coffee"},
        {"target_id": "%4$s", "subject": "Bob", "predicate": "secret", "content": "y"},
        {"target_id": "no uuid", "subject": "a", "predicate": "b", "content": "c"}
      ],
      "new_rules": [{"content": "Call before nine"}, {"content": "be  brief"}, {"content": null}],
      "confirmations": [{"target_id": "%5$s"}, "%3$s", "%4$s", "junk", 7]
    }', :'e1', :'e2', :'likes', :'foreign_fact', :'rule', gen_random_uuid()
  )::jsonb),
  'v1', 'recorded', as_of => '2026-01-02T01:00Z'
) as r \gset applied_
select is(:'applied_status'::text, 'done', 'a run that applied an action is done');
select is(
  array[:applied_facts_created, :applied_facts_superseded, :applied_rules_created, :applied_confirmed, :applied_contradicted, :applied_rejected],
  '{2,0,1,3,2,12}'::integer[], 'a run counts the outcomes of its actions'
);
select results_eq(
  format($$ select e ->> 'action', (e ->> 'position')::integer, e ->> 'code' from jsonb_array_elements(%L) as e $$, :'applied_errors'),
  $$ values
     ('new_fact', 3, 'PM002'), ('new_fact', 6, 'PM002'), ('new_fact', 7, 'PM002'), ('new_fact', 8, 'PM002'), ('new_fact', 9, 'PM002'),
     ('updated_fact', 2, 'PM001'), ('updated_fact', 3, '22P02'), ('new_rule', 3, 'PM002'),
     ('confirmation', 2, 'PM002'), ('confirmation', 3, 'PM001'), ('confirmation', 4, '22P02'), ('confirmation', 5, 'PM002') $$,
  'a run records why each rejected action was rejected'
);
select results_eq(
  $$ select f.content, f.permanence, f.confidence, f.importance, f.scope, f.source_butler, f.tags, f.metadata ? 'consolidation_run'
     from memory.facts as f where f.predicate in ('cat', 'age') order by 1 $$,
  $$ values
     ('40', 'standard', 0.4::float8, 5::float8, 'home', 'home', '[]'::jsonb, true),
     ('Tom', 'stable', 0.8, 8, 'home', 'home', '["pet"]', true) $$,
  'an inferred fact is at most stable and has a confidence of at most 0.8'
);
select results_eq(
  $$ select e.content from memory.facts as f
     join memory.memory_links as l on l.source_id = f.id and l.relation = 'derived_from'
     join memory.episodes as e on e.id = l.target_id
     where f.predicate = 'cat' order by 1 $$,
  $$ values ('e1'), ('e2') $$, 'an inferred fact is linked to its evidence'
);
select is(
  (select count(*) from memory.facts as f join memory.memory_links as l on l.source_id = f.id where f.predicate = 'age'),
  5::bigint, 'an inferred fact is linked to each of its evidence'
);
select results_eq(
  format($$ select f.content, f.validity from memory.facts as f where f.id in (%L, %L) order by 1 $$, :'stated', :'likes'),
  $$ values ('Paris', 'active'), ('tea', 'active') $$,
  'what an agent observed does not supersede what was stated'
);
select results_eq(
  format($$ select l.source_type, l.source_id from memory.memory_links as l where l.relation = 'contradicts' and l.target_id = %L $$, :'stated'),
  format($$ values ('episode', %L::uuid) $$, :'e1'),
  'the episode that contradicts a stated fact is linked to it'
);
select is(
  (select f.content from memory.facts as f where f.id = :'foreign_fact'), 'x',
  'consolidation does not change a fact of another butler'
);
select is(
  (select f.last_confirmed_at from memory.facts as f where f.id = :'foreign_fact'),
  '2026-01-01Z'::timestamptz,
  'consolidation does not confirm a fact of another butler'
);
select is(
  (select r.last_confirmed_at from memory.rules as r where r.id = :'rule'), '2026-01-02T01:00Z'::timestamptz,
  'a new rule that exists already confirms the existing one'
);
select results_eq(
  $$ select r.content, r.maturity, r.scope from memory.rules as r where r.tenant_id = 'a' order by 1 $$,
  $$ values ('Be brief', 'candidate', 'home'), ('Call before nine', 'candidate', 'home') $$,
  'a new rule that exists already is not stored twice'
);
select is(
  (select count(*) from memory.episodes as e where e.butler = 'home' and e.tenant_id = 'a' and e.consolidated), 5::bigint,
  'a run consolidates all episodes of its batch'
);
select is(
  (select count(*) from memory.episodes as e where e.tenant_id = 'b' and e.consolidated), 0::bigint,
  'a run consolidates no episode of another tenant'
);
select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) as facts_before from memory.facts as f \gset
select count(*)::integer as events_before from memory.memory_events \gset
select is(
  (select r.facts_created from memory.apply_consolidation(:'home_run', '{"new_facts": [{"subject": "x", "predicate": "y", "content": "z"}]}', as_of => '2026-01-02T02:00Z') as r),
  2, 'applying a run again returns its first result'
);
select is(
  (select md5(string_agg(to_jsonb(f)::text, '' order by f.id)) from memory.facts as f),
  :'facts_before',
  'applying a run again changes no fact'
);
select is(
  (select count(*)::integer from memory.memory_events), :events_before,
  'applying a run again writes no event'
);

-- A second batch of the same butler: inferred facts may be superseded

select memory.store_episode('e9', 'home', as_of => '2026-01-03Z') as e9 \gset
select distinct run_id as second_run from memory.claim_episodes('home', as_of => '2026-01-03Z') \gset
select id as cat from memory.facts where predicate = 'cat' \gset
select (r).* from memory.apply_consolidation(
  :'second_run',
  memory_test.cited(:'second_run', format(
    '{"updated_facts": [{"target_id": "%s", "subject": "wrong", "predicate": "wrong", "content": "Kim"}],
      "new_facts": [{"subject": "Ada", "predicate": "shoe", "content": "38"}]}', :'cat'
  )::jsonb),
  as_of => '2026-01-03Z'
) as r \gset applied_
select is(
  array[:applied_facts_created, :applied_facts_superseded, :applied_rejected], '{2,1,0}'::integer[],
  'an updated fact supersedes its target'
);
select results_eq(
  $$ select f.subject, f.predicate, f.content, f.supersedes_id is not null from memory.facts as f
     where f.predicate in ('cat', 'wrong') and f.validity = 'active' $$,
  $$ values ('Ada', 'cat', 'Kim', true) $$,
  'an updated fact keeps the subject and predicate of its target'
);
select memory.store_episode('e10', 'home', as_of => '2026-01-04Z') \g /dev/null
select distinct run_id as third_run from memory.claim_episodes('home', as_of => '2026-01-04Z') \gset
select (r).* from memory.apply_consolidation(
  :'third_run',
  memory_test.cited(:'third_run', format('{"updated_facts": [{"target_id": "%s", "content": "Leo"}]}', :'cat')::jsonb), as_of => '2026-01-04Z'
) as r \gset applied_
select is(:'applied_status'::text, 'failed', 'a run whose actions are all rejected has failed');
select is(
  :'applied_errors'::jsonb -> 0 ->> 'message',
  format('fact %s is superseded and no longer current', :'cat'),
  'a failed run records why its actions were rejected'
);
select is(
  (select e.consolidation_status::text from memory.episodes as e where e.content = 'e10'), 'failed',
  'the episode of a run that has failed waits for a retry'
);

-- Runs without actions

select distinct run_id as new_run from memory.claim_episodes('new', as_of => '2026-01-04Z') \gset
select is(
  (select r.status from memory.apply_consolidation(:'new_run', '{}', as_of => '2026-01-04Z') as r), 'done',
  'a run without actions is done'
);
select is_empty(
  $$ select * from memory.claim_episodes('new', as_of => '2026-01-04Z') $$,
  'an episode consolidated without actions cannot be claimed again'
);
select results_eq(
  $$ select d.butler, d.is_due from memory.list_due_consolidations('2026-01-04T00:01Z') as d where d.butler = 'home' $$,
  $$ values ('home', false) $$, 'a butler is not due right after a run'
);
select is(
  (select d.is_due from memory.list_due_consolidations('2026-01-04T07:00Z') as d where d.butler = 'home'), true,
  'a butler is due again after six hours'
);
select memory.configure('{"consolidation_episode_threshold": 2}') \g /dev/null
select memory.store_episode('more ' || n, 'home', as_of => '2026-01-04T01:00Z') from generate_series(1, 2) as n \g /dev/null
select is(
  (select d.is_due from memory.list_due_consolidations('2026-01-04T01:30Z') as d where d.butler = 'home'), true,
  'a butler is due again when enough episodes wait'
);

-- An error that no action causes undoes everything

select distinct run_id as fourth_run from memory.claim_episodes('home', as_of => '2026-01-04T02:00Z') \gset
create function memory_test.break_down()
  returns trigger
  language plpgsql
as $$
begin
  raise exception 'deadlock' using errcode = '40P01';
end;
$$;
create trigger break_down before insert on memory.rules for each row execute function memory_test.break_down();
select throws_ok(
  format(
    $$ select memory.apply_consolidation(%1$L,
         memory_test.cited(%1$L, '{"new_facts": [{"subject": "s", "predicate": "p", "content": "c"}], "new_rules": [{"content": "r"}]}'),
         as_of => '2026-01-04T02:00Z') $$, :'fourth_run'
  ),
  '40P01', 'deadlock', 'a deadlock is raised to the caller'
);
select is(
  (select count(*) from memory.facts as f where f.subject = 's'), 0::bigint,
  'a deadlock leaves nothing applied'
);
drop trigger break_down on memory.rules;
select is(
  (select r.facts_created from memory.apply_consolidation(:'fourth_run',
     memory_test.cited(:'fourth_run', '{"new_facts": [{"subject": "s", "predicate": "p", "content": "c"}], "new_rules": [{"content": "r"}]}'),
     as_of => '2026-01-04T02:00Z') as r),
  1, 'a run can be applied again after a deadlock'
);

-- Trust

select memory.store_episode('u', 'trust', source_class => 'user', as_of => '2026-01-05Z') as u \gset
select memory.store_episode('t', 'trust', source_class => 'tool', as_of => '2026-01-05Z') as t \gset
select distinct run_id as trust_run from memory.claim_episodes('trust', as_of => '2026-01-05Z') \gset
select memory.apply_consolidation(
  :'trust_run',
  memory_test.cited(:'trust_run', format(
    '{"new_facts": [
        {"subject": "s", "predicate": "user", "content": "c", "evidence": ["%1$s"]},
        {"subject": "s", "predicate": "tool", "content": "c", "evidence": ["%2$s"]},
        {"subject": "s", "predicate": "both", "content": "c"}],
      "new_rules": [{"content": "of both"}, {"content": "of user", "evidence": ["%1$s"]}]}', :'u', :'t'
  )::jsonb), as_of => '2026-01-05Z'
) \g /dev/null
select results_eq(
  $$ select f.predicate, f.trust from memory.facts as f where f.scope = 'trust' union all
     select r.content, r.trust from memory.rules as r where r.scope = 'trust' order by 1 $$,
  $$ values ('both', 'tool'), ('of both', 'tool'), ('of user', 'user'), ('tool', 'tool'), ('user', 'user') $$,
  'a derived memory is trusted as much as its least trusted source'
);
select memory.store_episode('x', 'trust', source_class => 'external', as_of => '2026-01-06Z') as x \gset
select run_id as trust_run from memory.claim_episodes('trust', as_of => '2026-01-06Z') \gset
select (r).* from memory.apply_consolidation(
  :'trust_run',
  memory_test.cited(
    :'trust_run',
    '{"new_facts": [{"subject": "s", "predicate": "user", "content": "forged"}, {"subject": "s", "predicate": "new", "content": "c"}]}'
  ),
  as_of => '2026-01-06Z'
) as r \gset applied_
select is(
  array[:applied_facts_created, :applied_contradicted], '{1,1}'::integer[],
  'an external source does not supersede what the user said'
);
select id as new_fact from memory.facts where predicate = 'new' \gset
select memory.store_fact('s', 'second hand', 'c', scope => 'trust') as second \gset
select memory.create_link('fact', :'second', 'fact', :'new_fact', 'derived_from') \g /dev/null
select is(
  (select f.trust from memory.facts as f where f.id = :'second'), 'external',
  'a fact derived from an external fact is external too'
);
select is_empty(
  $$ select r.problem from memory.facts as f cross join lateral memory.replay_memory('fact', f.id) as r
     where f.tenant_id = 'a' and r.problem is not null $$,
     'the history of facts whose trust has changed has no problems'
);
select throws_ok(
  $$ select memory.store_episode('c', 'b', source_class => 'god') $$, 'PM002', null,
  'an unknown source_class is refused'
);
select throws_ok(
  $$ select memory.store_episodes('[{"content": "c", "butler": "b", "source_class": "god"}]') $$,
  'PM002', null,
  'an unknown source_class in a batch is refused'
);

-- Review

select memory.configure('{"consolidation_review": true}') \g /dev/null
select memory.store_fact('Eve', 'age', '30', scope => 'review', as_of => '2026-01-06Z') \g /dev/null
select memory.store_rule('Be kind', scope => 'review', as_of => '2026-01-06Z') as kind \gset
select memory.store_episode('review', 'review', as_of => '2026-01-07Z') \g /dev/null
select run_id as review_run from memory.claim_episodes('review', as_of => '2026-01-07Z') \gset
select is(
  (select r.status from memory.apply_consolidation(
     :'review_run',
     memory_test.cited(:'review_run', format(
       '{"new_facts": [{"subject": "Eve", "predicate": "age", "content": "31"}, {"subject": "Eve", "predicate": "cat", "content": "Tom"},
                       {"subject": "", "predicate": "p", "content": "c"}],
         "new_rules": [{"content": "be  kind"}, {"content": "Be quick"}],
         "confirmations": [{"target_id": "%s"}, "%s"]}', :'kind', gen_random_uuid()
     )::jsonb), as_of => '2026-01-07Z'
   ) as r),
  'proposed', 'with consolidation_review, a run proposes its actions'
);
select is(
  (select count(*) from memory.facts as f where f.scope = 'review') + (select count(*) from memory.rules as r where r.scope = 'review'),
  2::bigint, 'a proposed run applies nothing'
);
select is_empty(
  $$ select * from memory.claim_episodes('review', as_of => '2026-01-08Z') $$,
  'the episodes of a proposed run cannot be claimed'
);
select results_eq(
  format($$ select d.position, d.action, d.memory_type, d.key, d.before, d.after, d.remark from memory.preview_proposals(%L) as d $$, :'review_run'),
  $$ values
     (1::bigint, 'new_fact', 'fact', '[Eve] [age]', '30', '31', 'would be superseded; its trust is user, that of the evidence is agent'),
     (2, 'new_fact', 'fact', '[Eve] [cat]', null, 'Tom', 'new'),
     (4, 'new_rule', 'rule', null, 'Be kind', 'be  kind', 'known: would be confirmed'),
     (5, 'new_rule', 'rule', null, null, 'Be quick', 'new') $$,
  'preview_proposals shows what each proposal would do; what comes to the same waits once'
);
select results_eq(
  format($$ select e ->> 'action', (e ->> 'position')::integer, e ->> 'code' from memory.list_consolidation_runs(run_id => %L) as r
            cross join jsonb_array_elements(r.errors) as e $$, :'review_run'),
  $$ values ('new_fact', 3, 'PM002'), ('confirmation', 2, 'PM001') $$,
  'what is invalid is rejected, and not proposed'
);
select results_eq(
  format($$ select r.status, r.rejected from memory.reject_proposals(%L, '{5}', '2026-01-07Z') as r $$, :'review_run'),
  $$ values ('proposed', 3) $$, 'a single proposal can be rejected'
);
select results_eq(
  format($$ select r.status, r.facts_created from memory.accept_proposals(%L, '{2}', '2026-01-07Z') as r $$, :'review_run'),
  $$ values ('proposed', 1) $$, 'a single proposal can be accepted'
);
select results_eq(
  format($$ select r.status, r.facts_created, r.facts_superseded, r.confirmed, r.rejected from memory.accept_proposals(%L, as_of => '2026-01-07Z') as r $$, :'review_run'),
  $$ values ('done', 2, 1, 1, 3) $$, 'a run is done when its last proposals are accepted'
);
select results_eq(
  format($$ select d.position, d.status, d.before, d.remark, d.decided_at from memory.preview_proposals(%L) as d where d.position in (1, 2, 5) $$, :'review_run'),
  $$ values
     (1::bigint, 'accepted', '30', 'fact superseded', '2026-01-07Z'::timestamptz), (2, 'accepted', null, 'fact created', '2026-01-07Z'),
     (5, 'rejected', null, 'rejected in review', '2026-01-07Z') $$,
  'preview_proposals shows what became of each proposal'
);
select results_eq(
  format($$ select r.status, r.facts_created from memory.accept_proposals(%L) as r $$, :'review_run'), $$ values ('done', 2) $$,
  'accepting the proposals of a run that is done returns its result again'
);
select is(
  (select r.status from memory.apply_consolidation(:'review_run', '{"new_rules": [{"content": "x"}]}') as r), 'done',
  'applying a reviewed run again leaves it done'
);
select throws_ok(
  $$ select memory.accept_proposals(gen_random_uuid()) $$, 'PM001', null,
  'the proposals of an unknown run cannot be accepted'
);
select throws_ok(
  $$ select memory.reject_proposals(gen_random_uuid()) $$, 'PM001', null,
  'the proposals of an unknown run cannot be rejected'
);
select is_empty(
  $$ select * from memory.preview_proposals(gen_random_uuid()) $$, 'an unknown run has no diff'
);
select memory.configure('{"consolidation_review": false}') \g /dev/null

-- Undoing

select memory.store_episode('undo', 'undo', as_of => '2026-01-07Z') \g /dev/null
select run_id as undo_first from memory.claim_episodes('undo', as_of => '2026-01-07Z') \gset
select memory.apply_consolidation(
  :'undo_first', memory_test.cited(:'undo_first', '{"new_facts": [{"subject": "cat", "predicate": "name", "content": "Tom"}]}'), as_of => '2026-01-07Z'
) \g /dev/null
select memory.store_episode('undo', 'undo', as_of => '2026-01-08Z') \g /dev/null
select run_id as undo_second from memory.claim_episodes('undo', as_of => '2026-01-08Z') \gset
select memory.apply_consolidation(
  :'undo_second',
  memory_test.cited(:'undo_second', '{"new_facts": [{"subject": "cat", "predicate": "name", "content": "Kim"}, {"subject": "cat", "predicate": "age", "content": "4"}],
    "new_rules": [{"content": "Feed the cat"}, {"content": "Pet the cat"}]}'),
  as_of => '2026-01-08Z'
) \g /dev/null
select memory.store_fact('dog', 'name', 'Rex', scope => 'undo', as_of => '2026-01-07Z') as rex \gset
select memory.store_fact('dog', 'name', 'Max', scope => 'undo', as_of => '2026-01-08Z') as max \gset
select memory.forget_memory('fact', :'max', '2026-01-08Z') \g /dev/null
select memory.create_link('fact', f.id, 'fact', :'rex', 'related_to') from memory.facts as f where f.content = 'Kim' \g /dev/null
select id as pet from memory.rules where content = 'Pet the cat' \gset
select memory.mark_helpful(:'pet', as_of => '2026-01-09Z') \g /dev/null
select results_eq(
  format($$ select u.memory_type, u.content, u.outcome from memory_test.undo_run(%L, '2026-01-10Z') as u order by 1, 2 $$, :'undo_second'),
  $$ values
     ('fact', '4', 'retracted'), ('fact', 'Kim', 'retracted, its predecessor restored'),
     ('rule', 'Feed the cat', 'retracted'), ('rule', 'Pet the cat', 'applied since') $$,
  'undoing a run retracts what it stored, except for what was used since'
);
select results_eq(
  $$ select f.content, f.lifecycle_state from memory.facts as f where f.subject = 'cat' order by 1 $$,
  $$ values ('4', 'retracted'), ('Kim', 'retracted'), ('Tom', 'active') $$,
  'undoing a run restores the facts it superseded'
);
select is((select f.validity from memory.facts as f where f.id = :'rex'), 'superseded', 'and no fact that they name otherwise');
select is_empty(
  format($$ select u.* from memory_test.undo_run(%L, '2026-01-11Z') as u where u.outcome like 'retracted%%' and u.outcome <> 'retracted since' $$, :'undo_second'),
  'undoing a run again retracts nothing'
);
select is(
  (select r.status from memory.consolidation_runs as r where r.id = :'undo_second'), 'undone',
  'a run that was undone has the status undone'
);
select is(
  (select r.status from memory.apply_consolidation(:'undo_second', '{"new_rules": [{"content": "x"}]}', as_of => '2026-01-11Z') as r),
  'undone', 'a run that was undone cannot be applied again'
);
select results_eq(
  format($$ select u.content, u.outcome from memory_test.undo_run(%L, '2026-01-12Z') as u $$, :'undo_first'),
  $$ values ('Tom', 'confirmed since') $$, 'undoing a run keeps a fact that was confirmed since'
);
select throws_ok(
  format($$ select memory.undo_consolidation(%L) $$, :'third_run'), 'PM003', null,
  'a failed run cannot be undone'
);

-- The context for the prompt

select results_eq(
  $$ select f ->> 'content' from jsonb_array_elements(memory.get_consolidation_context('home') -> 'facts') as f order by 1 $$,
  $$ values ('38'), ('40'), ('Kim'), ('Paris'), ('c'), ('tea') $$,
  'get_consolidation_context has the facts of the butler'
);
select is(
  jsonb_array_length(memory.get_consolidation_context('home', 2, 1) -> 'facts'), 2,
  'get_consolidation_context has at most as many facts as asked for'
);
select is(
  jsonb_array_length(memory.get_consolidation_context('home', 2, 1) -> 'rules'), 1,
  'get_consolidation_context has at most as many rules as asked for'
);

select is(memory.release_run(:'new_run'), false, 'a run that has ended cannot be released');
select memory.store_episode('again', 'new', as_of => '2026-01-05Z') \g /dev/null
select run_id as released_run from memory.claim_episodes('new', as_of => '2026-01-05Z') \gset
select is(
  memory.release_run(:'released_run', '2026-01-05Z'), true, 'an unfinished run can be released'
);
select results_eq(
  $$ select c.content from memory.claim_episodes('new', as_of => '2026-01-05Z') as c $$, $$ values ('again') $$,
  'released episodes can be claimed at once'
);

-- Arguments

select throws_ok(
  $$ select memory.claim_episodes(batch_size => 0) $$, 'PM002', null, 'a batch size of 0 is refused'
);
select throws_ok(
  $$ select memory.claim_episodes(lease => '0 s') $$, 'PM002', null, 'a lease of no time is refused'
);
select throws_ok(
  $$ select memory.apply_consolidation(gen_random_uuid(), '{}') $$, 'PM001', null,
  'an unknown run cannot be applied'
);
select throws_ok(
  format($$ select memory.apply_consolidation(%L, '[]') $$, :'new_run'), 'PM002', null,
  'a result that is not an object is refused'
);
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  format($$ select memory.apply_consolidation(%L, '{}') $$, :'new_run'), 'PM001', null,
  'the run of another tenant cannot be applied'
);
select is_empty(
  $$ select * from memory.list_consolidation_runs() $$, 'the runs of another tenant are not listed'
);

select * from finish();
rollback;
