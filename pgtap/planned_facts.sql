begin;
\ir fixtures.sql
select plan(36);

create view memory_test.homes as
select
  f.content, f.validity, f.valid_from::date as since, f.valid_to::date as until, f.planned_for::date as planned_for,
  p.content as replaced
from memory.facts as f
left join memory.facts as p on p.tenant_id = f.tenant_id and p.id = f.supersedes_id
where f.tenant_id = 'a' and f.predicate_key = 'lives in';
select memory_test.share_results() \g /dev/null

-- Storing

select memory.store_fact('Ada', 'lives in', 'Lisbon', as_of => '2026-01-01Z') as lisbon \gset
select memory.store_fact('Ada', 'lives in', 'Berlin', valid_from => '2026-03-01Z', as_of => '2026-01-02Z') as berlin \gset
select results_eq(
  'select * from memory_test.homes order by since',
  $$ values
       ('Lisbon', 'active', date '2026-01-01', null::date, null::date, null),
       ('Berlin', 'active', '2026-03-01', null, '2026-03-01', null) $$,
  'a fact that begins in the future leaves what holds until then as it is'
);
select is(
  memory.store_fact('ada', 'Lives in', 'Berlin', valid_from => '2026-03-01Z', as_of => '2026-01-03Z'), :'berlin',
  'the same plan once more is a confirmation of it'
);
select memory.store_fact('Ada', 'lives in', 'Potsdam', valid_from => '2026-03-01Z', as_of => '2026-01-03Z') as potsdam \gset
select results_eq(
  $$ select h.content, h.validity, h.planned_for, h.replaced from memory_test.homes as h where h.planned_for is not null order by 1 $$,
  $$ values ('Berlin', 'superseded', date '2026-03-01', null), ('Potsdam', 'active', '2026-03-01', 'Berlin') $$,
  'another plan for the same time supersedes it'
);
create table memory_test.batch as
select s.ordinal, s.id, s.superseded_id
from memory.store_facts('[
  {"subject": "Ada", "predicate": "lives in", "content": "Rome", "valid_from": "2026-05-01Z"},
  {"subject": "Ada", "predicate": "lives in", "content": "Porto"},
  {"subject": "Ada", "predicate": "lives in", "content": "Turin", "valid_from": "2026-05-01Z"}
]', as_of => '2026-01-04Z') as s;
select results_eq(
  $$ select f.content, p.content
     from memory_test.batch as b
     join memory.facts as f on f.id = b.id
     left join memory.facts as p on p.id = b.superseded_id
     order by b.ordinal $$,
  $$ values ('Rome', null), ('Porto', 'Lisbon'), ('Turin', 'Rome') $$,
  'a batch may hold plans and what holds today: each supersedes its like'
);
select results_eq(
  $$ select h.content, h.until, h.planned_for, h.replaced from memory_test.homes as h where h.validity = 'active' order by h.since $$,
  $$ values
       ('Porto', null::date, null::date, 'Lisbon'), ('Potsdam', null, '2026-03-01', 'Berlin'), ('Turin', null, '2026-05-01', 'Rome') $$,
  'a change of what holds leaves plans as they are'
);
select is(
  memory.store_fact('Ada', 'lives in', 'Porto', valid_from => '2026-01-05T00:40Z', as_of => '2026-01-05Z'),
  (select f.id from memory.facts as f where f.content = 'Porto'), 'what begins within the hour is no plan: clocks differ'
);
select throws_ok(
  $$ update memory.facts as f set planned_for = '2026-03-02Z' where f.content = 'Potsdam' $$, '23514', null,
  'a plan is for the time from which the fact is valid'
);

-- Finding

create function memory_test.found(as_of timestamptz)
  returns text
  language sql
  return (
    select string_agg(f.content || coalesce(' ' || f.planned_for::date, ''), ', ')
    from memory.search('Where does Ada live?', types => '{fact}', as_of => found.as_of) as f
  );
select is(
  memory_test.found('2026-01-06Z'), 'Porto, Potsdam 2026-03-01, Turin 2026-05-01',
  'what holds is found first, then what is planned, the soonest first, with the time'
);
select is(
  memory_test.found('2026-03-02Z'), 'Potsdam, Porto, Turin 2026-05-01',
  'what has begun since the last sweep is found before what held until then'
);
select matches(
  memory.context('Where does Ada live?', 'b', as_of => '2026-01-06Z'),
  E'lives in\\]: Porto \\(confidence: [0-9.]+\\)\n.*Potsdam \\(confidence: [0-9.]+, from 2026-03-01\\)\n', 'a context says when a plan begins'
);
select is(
  (
    select array_agg(r.content order by r.content)
    from memory.recall('Where does Ada live?', valid_at => '2026-04-01Z', as_of => '2026-01-06Z') as r
  ),
  '{Potsdam}', 'a question about a time in the future finds what is planned for it'
);
select is(
  (
    select array_agg(r.content order by r.content)
    from memory.recall('Where does Ada live?', valid_at => '2026-02-01Z', as_of => '2026-01-06Z') as r
  ),
  '{Porto}', 'one about the time before finds what holds until then'
);
select results_eq(
  $$ select v.at, array_agg(l.content order by l.content)
     from (values (date '2026-02-01'), ('2026-04-01'), ('2026-06-01')) as v (at)
     cross join lateral memory.memories_as_of(valid_at => v.at, types => '{fact}', predicate => 'lives in', as_of => '2026-01-06Z') as l
     group by v.at order by v.at $$,
  $$ values (date '2026-02-01', '{Porto}'::text[]), ('2026-04-01', '{Potsdam}'), ('2026-06-01', '{Turin}') $$,
  'a list of what is valid at a time in the future has what is planned for it, not what holds until then'
);
select results_eq(
  $$ select q.content, q.planned_for::date from memory.query('Where does Ada live?', types => '{fact}', as_of => '2026-01-06Z') as q order by 2 nulls first $$,
  $$ values ('Porto', null::date), ('Potsdam', '2026-03-01'), ('Turin', '2026-05-01') $$,
  'what an expression finds says when a plan begins'
);
select memory.store_fact('Bo', 'meets', 'Mia', valid_from => '2026-01-06T15:30Z', as_of => '2026-01-06Z') as meeting \gset
select matches(
  memory.context('Whom does Bo meet?', 'b', as_of => '2026-01-06Z'), E'from 2026-01-06 15:30\\)\n', 'and at what time of the day, unless at midnight'
);
select is_empty('select * from memory.list_contradictions(as_of => $$2026-01-06Z$$)', 'a plan contradicts nothing');

-- As known then

select memory.store_fact('Ada', 'banks at', 'Old Bank', as_of => '2026-01-01Z') as old_bank \gset
select memory.store_fact('Ada', 'banks at', 'New Bank', valid_from => '2026-04-01Z', as_of => '2026-01-07Z') as bank \gset
create function memory_test.known(known_at timestamptz, valid_at timestamptz)
  returns text
  language sql
  return (
    select string_agg(f.content || coalesce(' ' || f.planned_for::date, ''), ', ')
    from memory.recall(
      'At which bank?', types => '{fact}', known_at => known.known_at, valid_at => known.valid_at, as_of => '2026-01-09Z'
    ) as f
  );
select is(
  memory_test.known('2026-01-05Z', '2026-05-01Z'), 'Old Bank', 'what was not planned yet takes the place of nothing that was known'
);
select memory.forget_memory('fact', f.id, as_of => '2026-01-08Z')
from (values (:'bank'::uuid), (:'old_bank')) as f (id) \g /dev/null
select is(
  memory_test.known('2026-01-07T12:00Z', '2026-05-01Z'), 'New Bank', 'what was planned and is forgotten since was known then'
);
select is(
  memory_test.known('2026-01-07T12:00Z', null), 'Old Bank, New Bank 2026-04-01', 'and was found after what held'
);

-- Beginning

select memory.run_decay_sweep('2026-02-28Z') \g /dev/null
select is(
  (select count(*) from memory_test.homes as h where h.validity = 'active'), 3::bigint, 'the sweep leaves what has not begun as it is'
);
select memory.run_decay_sweep('2026-03-01T03:00Z') \g /dev/null
select results_eq(
  $$ select * from memory_test.homes as h where h.content in ('Porto', 'Potsdam', 'Turin') order by h.since $$,
  $$ values
       ('Porto', 'superseded', date '2026-01-04', date '2026-03-01', null::date, 'Lisbon'),
       ('Potsdam', 'active', '2026-03-01', null, null, 'Berlin'),
       ('Turin', 'active', '2026-05-01', null, '2026-05-01', 'Rome') $$,
  'the sweep lets a plan that has begun take the place of what held until then'
);
select is(
  (
    select array_agg(t.content order by t.content)
    from memory.memory_links as l
    join memory.facts as t on t.tenant_id = l.tenant_id and t.id = l.target_id
    where l.tenant_id = 'a' and l.source_id = :'potsdam' and l.relation = 'supersedes'
  ),
  '{Berlin,Porto}', 'links say what it has superseded: another plan, and what held'
);
select is_empty(
  $$ select f.id, r.problem from memory.facts as f cross join memory.replay_memory('fact', f.id) as r where r.problem is not null $$,
  'history and events agree about plans'
);
select results_eq(
  $$ select l.content, l.state
     from memory.memories_as_of(valid_at => '2026-02-01Z', types => '{fact}', predicate => 'lives in', as_of => '2026-03-02Z') as l $$,
  $$ values ('Porto', 'superseded') $$, 'what held before is still listed for the time before'
);
select memory.store_fact('Ada', 'lives in', 'Oslo', valid_from => '2026-05-03Z', as_of => '2026-05-04Z') as oslo \gset
select memory.run_decay_sweep('2026-05-05Z') \g /dev/null
select results_eq(
  $$ select h.content, h.validity, h.since, h.until, h.planned_for from memory_test.homes as h where h.since >= '2026-03-01' and h.replaced is not null
     order by h.since $$,
  $$ values
       ('Potsdam', 'superseded', date '2026-03-01', date '2026-05-01', null::date), ('Turin', 'superseded', '2026-05-01', '2026-05-03', null),
       ('Oslo', 'active', '2026-05-03', null, null) $$,
  'what was stored meanwhile, as of a later time, goes on, and the plan held until then'
);

-- Consolidation

select memory.store_episode('Ada moves to Bergen in June', 'home', created_at => '2026-05-06Z', as_of => '2026-05-06Z') \g /dev/null
select c.run_id, c.episode_id from memory.claim_episodes('home', as_of => '2026-05-06Z') as c \gset
select r.facts_created, r.facts_superseded
from memory.apply_consolidation(:'run_id', jsonb_build_object('updated_facts', jsonb_build_array(jsonb_build_object(
  'target_id', :'oslo', 'content', 'Bergen', 'valid_from', '2026-06-01', 'evidence', jsonb_build_array(:'episode_id')
))), as_of => '2026-05-06Z') as r \gset
select is(
  array[:facts_created, :facts_superseded], '{1,0}', 'a change that is still to come, as consolidation learns it, is a plan beside what holds'
);
select is(memory_test.found('2026-05-07Z'), 'Oslo, Bergen 2026-06-01', 'which is found after it');
select is(
  memory.get_consolidation_context('home') -> 'facts' @> '[{"content": "Bergen", "planned_for": "2026-06-01T00:00:00+00:00"}]', true,
  'consolidation is told what is planned'
);

-- Taking back

select f.id as bergen from memory.facts as f where f.content = 'Bergen' \gset
select memory.forget_memory('fact', :'bergen', as_of => '2026-05-08Z') \g /dev/null
select is(memory_test.found('2026-05-09Z'), 'Oslo', 'a plan can be forgotten');
select memory.restore_memory('fact', :'bergen', as_of => '2026-05-10Z') \g /dev/null
select is(memory_test.found('2026-05-11Z'), 'Oslo, Bergen 2026-06-01', 'and restored, beside what holds');

-- Giving up

select memory.store_episode('Ada stays in Oslo after all', 'home', created_at => '2026-05-12Z', as_of => '2026-05-12Z') \g /dev/null
select c.run_id, c.episode_id from memory.claim_episodes('home', as_of => '2026-05-12Z') as c \gset
select r.facts_ended
from memory.apply_consolidation(:'run_id', jsonb_build_object('ended_facts', jsonb_build_array(jsonb_build_object(
  'target_id', :'bergen', 'evidence', jsonb_build_array(:'episode_id')
))), as_of => '2026-05-12Z') as r \gset
select is(memory_test.found('2026-05-13Z'), 'Oslo', 'a plan that consolidation ends is given up at once');
select memory.store_fact('Ada', 'lives in', 'Nowhere', valid_from => '2026-06-02Z', valid_to => '2026-06-02Z', as_of => '2026-05-13Z') \g /dev/null
select memory.run_decay_sweep('2026-06-03Z') \g /dev/null
select is(memory_test.found('2026-06-03Z'), 'Oslo', 'a plan that is over when it begins takes the place of nothing');
select is_empty(
  $$ select f.id, r.problem from memory.facts as f cross join memory.replay_memory('fact', f.id) as r where r.problem is not null $$,
  'history and events agree about all that'
);

-- Confidence

select memory.store_fact('Ada', 'marries', 'Leo', valid_from => '2026-11-01Z', as_of => '2025-01-01Z') as wedding \gset
select memory.run_decay_sweep('2026-10-30Z') \g /dev/null
select is(
  (select f.effective_confidence from memory.search('Whom does Ada marry?', types => '{fact}', as_of => '2026-10-31Z') as f where f.id = :'wedding'),
  1::float8, 'a plan does not fade, however far ahead it is'
);
select memory.run_decay_sweep('2026-11-02Z') \g /dev/null
select results_eq(
  $$ select f.validity, f.planned_for, f.decay_rate, f.last_confirmed_at from memory.facts as f where f.content = 'Leo' $$,
  $$ values ('active', null::timestamptz, 0.008::float8, timestamptz '2026-11-01Z') $$, 'it begins to fade when it begins'
);
select throws_ok(
  $$ update memory.facts as f set decay_rate = 0 where f.content = 'Leo' $$, '23514', null, 'what holds fades by its permanence'
);

select * from finish();
rollback;
