begin;
\ir fixtures.sql
select plan(37);

select memory_test.a_login('review_admin', 'a', 'memory_admin');
select memory_test.a_login('review_writer', 'a', 'memory_writer');
select memory_test.a_login('review_both', 'a', 'memory_writer, memory_admin');
select memory_test.share_results();
select memory_test.as_tenant('a') \g /dev/null
select memory.configure('{"consolidation_review": true}') \g /dev/null
select memory.store_fact('Eve', 'age', '30', scope => 'home', as_of => '2026-01-01Z') as age \gset
select memory.store_rule('Be kind', scope => 'home', as_of => '2026-01-01Z') as kind \gset
select memory.store_episode('Eve is 31 and has a cat', 'home', as_of => '2026-01-02Z') \g /dev/null
select run_id as run from memory.claim_episodes('home', as_of => '2026-01-02Z') \gset
select memory.apply_consolidation(
  :'run',
  memory_test.cited(:'run', format(
    '{"new_facts": [{"subject": "Eve", "predicate": "age", "content": "31", "confidence": 0.9}, {"subject": "Eve", "predicate": "cat", "content": "Tom", "tags": ["pet"]}],
      "new_rules": [{"content": "Be quick"}, {"content": "Ask the cat"}], "confirmations": [{"target_id": "%s"}]}', :'kind'
  )::jsonb), as_of => '2026-01-02Z'
) \g /dev/null
create view memory_test.proposals as
select p.* from memory.preview_proposals((select r.id from memory.consolidation_runs as r where r.tenant_id = 'a' order by r.started_at limit 1), as_of => '2026-01-03Z') as p;
select results_eq(
  $$ select p.position, p.action, p.after, p.is_amended from memory_test.proposals as p $$,
  $$ values (1::bigint, 'new_fact', '31', false), (2, 'new_fact', 'Tom', false), (3, 'new_rule', 'Be quick', false), (4, 'new_rule', 'Ask the cat', false), (5, 'confirmation', null, false) $$,
  'five proposals wait'
);

-- amend_proposal

select is(
  memory.amend_proposal(:'run', 2, '{"content": "Kim", "tags": ["pet", "cat"], "importance": 8}', '2026-01-03Z'), '[Eve] [cat]: Kim',
  'a proposal can be edited, and says what it says now'
);
select results_eq(
  $$ select p.after, p.key, p.remark, p.is_amended from memory_test.proposals as p where p.position = 2 $$,
  $$ values ('Kim', '[Eve] [cat]', 'new', true) $$, 'the preview shows that'
);
select results_eq(
  $$ select p.item - 'evidence', p.original_item - 'evidence' from memory.consolidation_proposals as p where p.position = 2 $$,
  $$ values ('{"subject": "Eve", "predicate": "cat", "content": "Kim", "tags": ["pet", "cat"], "importance": 8}'::jsonb, '{"subject": "Eve", "predicate": "cat", "content": "Tom", "tags": ["pet"]}'::jsonb) $$,
  'what the LLM wrote is kept'
);
select memory.amend_proposal(:'run', 2, '{"content": "Kim the cat", "importance": null}', '2026-01-03Z') \g /dev/null
select results_eq(
  $$ select p.item - 'evidence', p.original_item ->> 'content' from memory.consolidation_proposals as p where p.position = 2 $$,
  $$ values ('{"subject": "Eve", "predicate": "cat", "content": "Kim the cat", "tags": ["pet", "cat"]}'::jsonb, 'Tom') $$,
  'however often it is edited; null takes a value away'
);
select is(
  (select count(*) from memory.memory_events as e where e.event_type = 'proposal_updated'), 2::bigint, 'every edit is audited'
);
select memory.amend_proposal(:'run', 2, '{"predicate": "age", "content": "thirty-one"}', '2026-01-03Z') \g /dev/null
select results_eq(
  $$ select p.key, p.before, p.memory_id, p.remark like 'would be superseded%' from memory_test.proposals as p where p.position = 2 $$,
  format($$ values ('[Eve] [age]', '30', %L::uuid, true) $$, :'age'), 'it may concern another fact then'
);
select memory.amend_proposal(:'run', 2, '{"predicate": "cat", "content": "Kim"}', '2026-01-03Z') \g /dev/null
select is(memory.amend_proposal(:'run', 3, '{"content": "Be  quick!"}', '2026-01-03Z'), 'Be  quick!', 'so can a rule');

select throws_ok(format('select memory.amend_proposal(%L, %s, %L, %L)', c.run, c.place, c.changes, '2026-01-03Z'), c.code, null, format('%s is refused', c.what))
from (values
  (1, 'an unknown run', gen_random_uuid()::text, 1, '{"content": "x"}', 'PM001'),
  (2, 'an unknown position', :'run', 9, '{"content": "x"}', 'PM001'),
  (3, 'no change', :'run', 1, '{}', 'PM002'),
  (4, 'the evidence', :'run', 1, '{"evidence": []}', 'PM002'),
  (5, 'another target', :'run', 1, '{"target_id": "x"}', 'PM002'),
  (6, 'what is no object', :'run', 1, '[]', 'PM002'),
  (7, 'an empty content', :'run', 1, '{"content": " "}', 'PM002'),
  (8, 'a fact without a subject', :'run', 1, '{"subject": null}', 'PM002'),
  (9, 'the scope of another butler', :'run', 1, '{"scope": "work"}', 'PM002'),
  (10, 'an importance out of range', :'run', 1, '{"importance": 11}', 'PM002'),
  (11, 'tags that are none', :'run', 1, '{"tags": [1]}', 'PM002'),
  (12, 'a confirmation, which says nothing', :'run', 5, '{"content": "x"}', 'PM003'),
  (13, 'what another proposal says', :'run', 4, '{"content": "be quick!"}', 'PM004')
) as c (position, what, run, place, changes, code)
order by c.position;
select memory.accept_proposals(:'run', '{1,2,3}', '2026-01-04Z') \g /dev/null
select results_eq(
  $$ select f.predicate, f.content, f.tags, f.importance, f.confidence, f.trust from memory.facts as f where f.scope = 'home' and f.validity = 'active' order by 1 $$,
  $$ values ('age', '31', '[]'::jsonb, 5::float8, 0.8::float8, 'agent'), ('cat', 'Kim', '["pet", "cat"]', 5, 0.8, 'agent') $$,
  'what is accepted is what was edited, within the limits of what an LLM says'
);
select throws_ok(
  format('select memory.amend_proposal(%L, 1, %L)', :'run', '{"content": "x"}'), 'PM003', null, 'what was decided cannot be edited'
);

-- Who may review

set local session authorization review_writer;
select throws_ok(format(c.call, :'run'), 'PM008', null, format('a writer may not %s', c.what))
from (values
  (1, 'accept', 'select memory.accept_proposals(%L, ''{4}'')'), (2, 'reject', 'select memory.reject_proposals(%L, ''{4}'')'),
  (3, 'amend', 'select memory.amend_proposal(%L, 4, ''{"content": "x"}'')')
) as c (position, what, call)
order by c.position;
set local session authorization review_both;
set local role memory_writer;
select throws_ok(
  format('select memory.reject_proposals(%L, ''{4}'')', :'run'), 'PM008', null, 'nor an admin with the rights of a writer'
);
reset role;
set local session authorization review_admin;
select lives_ok(format('select memory.reject_proposals(%L, ''{4}'')', :'run'), 'an admin may');
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null
select memory.configure('{"consolidation_reviewers": "writers"}') \g /dev/null
set local session authorization review_writer;
select lives_ok(format('select memory.accept_proposals(%L)', :'run'), 'with consolidation_reviewers, writers may, too');
set local session authorization default;
select memory_test.as_tenant('a') \g /dev/null

-- undo_preview (that it promises what the undoing does is shown in consolidation.sql and corrections.sql)

select throws_ok($$ select memory.undo_preview(gen_random_uuid()) $$, 'PM001', null, 'an unknown run has no preview');
select throws_ok($$ select memory.undo_preview(null) $$, 'PM001', null, 'nor has no run');
select memory.store_episode('More', 'work', as_of => '2026-01-02Z') \g /dev/null
select run_id as running from memory.claim_episodes('work', as_of => '2026-01-05Z') \gset
select throws_ok(format('select memory.undo_preview(%L)', :'running'), 'PM003', null, 'nor one that is not done');
select isnt_empty(format('select from memory.undo_preview(%L)', :'run'), 'a run that is done has one');
select is((select r.status from memory.consolidation_runs as r where r.id = :'run'), 'done', 'which changes nothing');

-- Pages of runs

select is(
  (
    with recursive pages as (
      select p.* from (select r.id, r.started_at from memory.list_consolidation_runs(max_results => 1) as r) as p
      union all
      select n.id, n.started_at from pages as p cross join lateral memory.list_consolidation_runs(max_results => 1, before_at => p.started_at, before_id => p.id) as n
    )
    select array_agg(p.id) from pages as p
  ),
  array[:'running', :'run']::uuid[], 'runs are listed page by page'
);
select throws_ok(
  $$ select memory.list_consolidation_runs(before_at => now()) $$, 'PM002', null, 'a page without a run is refused'
);
select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  format('select memory.amend_proposal(%L, 1, %L)', :'run', '{"content": "x"}'), 'PM001', null, 'another tenant cannot edit it'
);

select * from finish();
rollback;
