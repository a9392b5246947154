begin;
\ir fixtures.sql
select plan(65);

-- Everything here is stored on January 1; time passes in the arguments of the sweeps.

create function memory_test.a_fact(
  subject text,
  permanence text default 'standard',
  confidence float8 default 1.0
)
  returns uuid
  language sql
  volatile
  begin atomic
    select memory.store_fact(
      subject, 'is', 'fact', permanence => permanence, confidence => confidence, as_of => '2026-01-01Z'
    );
  end;

-- A sweep in one line: checked/fading/expired/recovered of facts, then of rules.
create function memory_test.swept(as_of timestamptz)
  returns text
  language sql
  volatile
  begin atomic
    select string_agg(
      concat_ws('/', s.checked, s.fading, s.expired, s.recovered), ' ' order by s.memory_type
    )
    from memory.run_decay_sweep(as_of) as s;
  end;

create function memory_test.on_day(day float8)
  returns timestamptz
  language sql
  immutable
  return '2026-01-01Z'::timestamptz + day * interval '1 day';

create function memory_test.states()
  returns text
  language sql
  stable
  return (
    select string_agg(f.subject || ' ' || f.lifecycle_state, ', ' order by f.created_at, f.subject)
    from memory.facts as f where f.tenant_id = 'a'
  );

create function memory_test.rule_states()
  returns text
  language sql
  stable
  return (
    select string_agg(r.content || ' ' || r.lifecycle_state, ', ' order by r.content)
    from memory.rules as r where r.tenant_id = 'a'
  );

-- decayed_state

select is(
  memory.decayed_state(s.confidence, 0.2, 0.05), s.state,
  format('an effective confidence of %s makes a memory %s', s.confidence, s.state)
)
from (values
  (1, 1.0::float8, 'active'), (2, 0.2, 'active'), (3, 0.19999999999999998, 'fading'), (4, 0.05, 'fading'),
  (5, 0.049999999999999996, 'expired'), (6, 0.0, 'expired')
) as s (position, confidence, state)
order by s.position;
select is(
  array[
    memory.decayed_state(0.15, 0.1, 0.3), memory.decayed_state(0.3, 0.1, 0.3),
    memory.decayed_state(0.5, 0, 0), memory.decayed_state(0, 0, 0), memory.decayed_state(1, 1, 1)
  ],
  '{expired,active,active,active,active}'::text[],
  'with expiry_threshold above fading_threshold nothing fades; with both at 0 nothing decays'
);

-- Ninety days

select is(
  memory_test.swept('2026-01-01Z'), '0/0/0/0 0/0/0/0', 'a sweep of an empty memory checks nothing'
);
select memory_test.a_fact(p, p) from unnest('{permanent,stable,standard,volatile,ephemeral}'::text[]) as p
\g /dev/null
select is(
  memory_test.swept(memory_test.on_day(16)), '4/0/0/0 0/0/0/0',
  'a sweep checks the facts that decay, and changes nothing too early'
);
select is(memory_test.swept(memory_test.on_day(16.1)), '4/1/0/0 0/0/0/0', 'an ephemeral fact fades after sixteen days');
select is(
  memory_test.states(),
  'ephemeral fading, permanent active, stable active, standard active, volatile active',
  'only the ephemeral fact fades after sixteen days'
);
select is(
  memory_test.swept(memory_test.on_day(29.9)), '4/0/0/0 0/0/0/0',
  'a sweep does not count a fading fact as fading again'
);
select is(memory_test.swept(memory_test.on_day(30)), '4/0/1/0 0/0/0/0', 'an ephemeral fact expires after thirty days');
select is(
  memory_test.swept(memory_test.on_day(90)), '3/1/0/0 0/0/0/0',
  'a volatile fact fades within ninety days, and an expired fact is no longer checked'
);
select is(
  memory_test.states(),
  'ephemeral expired, permanent active, stable active, standard active, volatile fading',
  'standard, stable and permanent facts are active after ninety days'
);
select is(
  memory_test.swept(memory_test.on_day(300)), '3/1/1/0 0/0/0/0',
  'after 300 days a standard fact fades and a volatile fact has expired'
);
select is(
  (
    select jsonb_object_agg(f.subject, jsonb_build_array(f.validity, f.metadata))
    from memory.facts as f where f.tenant_id = 'a'
  ),
  '{"ephemeral": ["expired", {}], "volatile": ["expired", {}],
    "standard": ["active", {"status": "fading"}], "stable": ["active", {}], "permanent": ["active", {}]}'::jsonb,
  'a fading fact is still active and has a mark, and an expired fact has none'
);
select is(
  (select memory_test.events_of(f.id) from memory.facts as f where f.subject = 'volatile'),
  '{fact_created,fact_fading,fact_expired}'::text[],
  'each step of the decay of a fact writes an event'
);
select is(
  (
    select string_agg(m.subject, ' ' order by m.subject)
    from memory.search('fact', min_confidence => 0, as_of => '2026-10-28Z') as m
  ),
  'permanent stable standard', 'a fading fact can be found, and an expired fact cannot'
);
select memory_test.a_fact('ephemeral') as successor_id \gset
select is(
  (select f.supersedes_id from memory.facts as f where f.id = :'successor_id'), null::uuid,
  'the key of an expired fact can be used again'
);

-- A second run

select md5(string_agg(f.ctid::text || f::text, '' order by f.id)) as others_before
from memory.facts as f where f.id <> :'successor_id' \gset
select count(*) as events_before from memory.memory_events \gset
select is(
  memory_test.swept(memory_test.on_day(300)), '3/1/0/0 0/0/0/0',
  'a sweep fades a fact that was stored as of the past'
);
select is(
  memory_test.swept(memory_test.on_day(300)), '3/0/0/0 0/0/0/0',
  'a second sweep at the same time changes nothing'
);
select is(
  (select count(*) from memory.memory_events) - :events_before, 1::bigint,
  'a second sweep at the same time writes no event'
);
select is(
  (select md5(string_agg(f.ctid::text || f::text, '' order by f.id)) from memory.facts as f
   where f.id <> :'successor_id'),
  :'others_before',
  'a sweep does not write a row that does not change state'
);

-- Recovery

select f.id as standard_id from memory.facts as f where f.subject = 'standard' \gset
select memory.confirm_memory('fact', :'standard_id', memory_test.on_day(300)) \g /dev/null
select is(
  (memory_test.events_of(:'standard_id'))[2:], '{fact_fading,fact_confirmed,fact_recovered}'::text[],
  'a fact that is confirmed recovers at once'
);
select is(
  memory_test.swept(memory_test.on_day(300)), '3/0/0/0 0/0/0/0',
  'a sweep does not count a fact that has already recovered'
);
update memory.facts as f set last_confirmed_at = memory_test.on_day(200) where f.id = :'successor_id';
select is(
  memory_test.swept(memory_test.on_day(300)), '3/0/0/1 0/0/0/0',
  'a fact that is above the threshold again recovers at the next sweep'
);
select is(
  (select f.metadata from memory.facts as f where f.id = :'successor_id'), '{}'::jsonb,
  'a recovered fact has no fading mark'
);
select is(
  memory_test.events_of(:'successor_id'), '{fact_created,fact_fading,fact_confirmed,fact_recovered}',
  'the recovery of a fact writes an event'
);
select memory_test.a_fact('doubtful', confidence => 0.1) as doubtful_id \gset
select memory_test.a_fact('dubious', confidence => 0.04) as dubious_id \gset
select memory_test.a_fact('at threshold', confidence => 0.2) as threshold_id \gset
select memory_test.a_fact('at expiry', confidence => 0.05) as expiry_id \gset
select memory_test.a_fact('certain', 'permanent', 0.01) as certain_id \gset
select is(
  memory_test.swept('2026-01-01Z'), '7/2/1/0 0/0/0/0',
  'a fact of low confidence fades or expires at once, unless it is exactly at a threshold'
);
select results_eq(
  $$ select f.subject, f.lifecycle_state from memory.facts as f
     where f.confidence < 0.3 order by f.confidence $$,
  $$ values ('certain', 'active'), ('dubious', 'expired'), ('at expiry', 'fading'), ('doubtful', 'fading'),
     ('at threshold', 'active') $$,
  'a permanent fact stays active whatever its confidence'
);
select is(
  memory_test.swept(memory_test.on_day(0.001)), '6/1/1/0 0/0/0/0',
  'a fact at a threshold fades or expires soon after'
);

-- Rows with missing or odd times

insert into memory.facts (tenant_id, subject, predicate, content, created_at)
values ('a', 'imported', 'is', 'fact', '2026-01-01Z') returning id as imported_id \gset
update memory.facts as f set last_confirmed_at = null where f.id = :'imported_id';
select memory.run_decay_sweep(memory_test.on_day(201)) \g /dev/null
select is(
  (select f.lifecycle_state from memory.facts as f where f.id = :'imported_id'), 'active',
  'a fact that was never confirmed decays from its creation'
);
select memory.run_decay_sweep(memory_test.on_day(202)) \g /dev/null
select is(
  (select f.lifecycle_state from memory.facts as f where f.id = :'imported_id'), 'fading',
  'a fact that was never confirmed fades like any other'
);
insert into memory.facts (tenant_id, subject, predicate, content, permanence, decay_rate, created_at)
values ('a', 'ancient', 'is', 'fact', 'ephemeral', 0.1, '0044-03-15Z') returning id as ancient_id \gset
select memory.run_decay_sweep(memory_test.on_day(202)) \g /dev/null
select is(
  (select f.lifecycle_state from memory.facts as f where f.id = :'ancient_id'), 'expired',
  'a sweep expires a fact that is two thousand years old'
);

-- Superseded and retracted facts

select memory_test.a_fact('gone') as superseded_id \gset
select memory_test.a_fact('gone', 'volatile') as retracted_id \gset
select memory.forget_memory('fact', :'retracted_id') \g /dev/null
select memory.run_decay_sweep(memory_test.on_day(300)) \g /dev/null
select is(
  memory_test.events_of(:'superseded_id') || memory_test.events_of(:'retracted_id'),
  '{fact_created,fact_superseded,fact_created,link_created,fact_retracted}'::text[],
  'superseded and retracted facts are not swept'
);

-- Rules

select memory.store_rule('Brisk', metadata => '{"k": 1}', as_of => '2026-01-01Z') as brisk_id \gset
select memory.store_rule('Certain', as_of => '2026-01-01Z') as certain_rule_id \gset
select memory.store_rule('Warning', as_of => '2026-01-01Z') as warning_id \gset
select memory.store_rule('Gone', as_of => '2026-01-01Z') as gone_id \gset
update memory.rules as r set permanence = 'permanent', decay_rate = 0 where r.id = :'certain_rule_id';
update memory.rules as r set maturity = 'anti_pattern' where r.id = :'warning_id';
select memory.forget_memory('rule', :'gone_id') \g /dev/null
select is(
  split_part(memory_test.swept(memory_test.on_day(91)), ' ', 2), '1/0/0/0',
  'a sweep checks the rules that decay and are not warnings'
);
select is(split_part(memory_test.swept(memory_test.on_day(92)), ' ', 2), '1/1/0/0', 'a rule of confidence 0.5 fades after ninety-two days');
select is(
  memory_test.rule_states(), 'Brisk fading, Certain active, Gone retracted, Warning active',
  'only the rule that decays fades'
);
update memory.rules as r set last_confirmed_at = memory_test.on_day(50) where r.id = :'brisk_id';
select is(split_part(memory_test.swept(memory_test.on_day(92)), ' ', 2), '1/0/0/1', 'a rule recovers like a fact');
select is(
  split_part(memory_test.swept(memory_test.on_day(280)), ' ', 2), '1/1/0/0',
  'a rule that recovered can fade again'
);
select is(
  split_part(memory_test.swept(memory_test.on_day(281)), ' ', 2), '1/0/1/0',
  'a rule is forgotten at the end of its decay'
);
select is(
  (select r.metadata from memory.rules as r where r.id = :'brisk_id'), '{"k": 1, "forgotten": true}'::jsonb,
  'a rule forgotten by a sweep has the mark of a forgotten rule'
);
select is(
  memory_test.events_of(:'brisk_id'),
  '{rule_created,rule_fading,rule_confirmed,rule_recovered,rule_fading,rule_retracted}'::text[],
  'each step of the decay of a rule writes an event'
);
select is(
  split_part(memory_test.swept(memory_test.on_day(281)), ' ', 2), '0/0/0/0',
  'a forgotten rule is no longer checked'
);

insert into memory.rules (tenant_id, content, created_at) values ('a', 'Imported', '2026-01-01Z');
update memory.rules as r set last_confirmed_at = null where r.content = 'Imported';
select is(
  split_part(memory_test.swept(memory_test.on_day(100)), ' ', 2), '1/0/0/0',
  'a rule that was never confirmed decays from its creation'
);

-- Settings

select memory_test.as_tenant('settings') \g /dev/null
select memory.configure('{"fading_threshold": 0.9, "expiry_threshold": 0.5}') \g /dev/null
select memory_test.a_fact('set') as set_id \gset
select is(
  memory_test.swept(memory_test.on_day(14)), '1/1/0/0 0/0/0/0', 'the fading threshold is a setting'
);
select memory.configure('{"fading_threshold": 0.8}') \g /dev/null
select is(
  memory_test.swept(memory_test.on_day(14)), '1/0/0/1 0/0/0/0',
  'a fading fact recovers when the fading threshold is lowered'
);
select is(
  memory_test.swept(memory_test.on_day(87)), '1/0/1/0 0/0/0/0',
  'the expiry threshold is a setting, and an active fact may expire at once'
);
select is(
  memory_test.events_of(:'set_id'),
  '{fact_created,fact_fading,fact_recovered,fact_expired}'::text[],
  'an active fact may expire without fading first'
);

-- Bad input

select throws_ok(
  $$ select memory.run_decay_sweep(now() + interval '25 hours') $$, 'PM002', null,
  'a sweep at a future time is refused'
);
select throws_ok(
  format($$ select memory.run_decay_sweep(%L) $$, t.as_of), 'PM002', null,
  format('a sweep at the time %s is refused', coalesce(t.as_of, 'NULL'))
)
from unnest('{infinity,-infinity,null}'::text[]) as t (as_of);

-- All tenants

select memory_test.as_tenant('b') \g /dev/null
select memory_test.a_fact('foreign') as foreign_id \gset
select memory_test.as_tenant('c') \g /dev/null
select memory.store_rule('Foreign', as_of => '2026-01-01Z') as foreign_rule_id \gset
select memory_test.as_tenant('d') \g /dev/null
select memory.store_episode('Foreign', 'home') as foreign_episode_id \gset
select memory_test.as_tenant('a') \g /dev/null
select memory.run_decay_sweep(memory_test.on_day(300)) \g /dev/null
select is(
  memory_test.events_of(:'foreign_id'), '{fact_created}'::text[], 'a sweep changes nothing of another tenant'
);
select results_eq(
  $$ select t.tenant_id from memory.list_tenants() as t $$,
  $$ values ('a'), ('b'), ('c'), ('d'), ('settings') $$,
  'list_tenants lists the tenants that have memories of any kind'
);
select results_eq(
  $$ select s.tenant_id, s.memory_type, s.checked, s.fading, s.expired, s.recovered
     from memory.run_decay_sweep_all_tenants(memory_test.on_day(300)) as s
     where s.tenant_id in ('b', 'c', 'd') $$,
  $$ values
     ('b', 'fact', 1::bigint, 1::bigint, 0::bigint, 0::bigint), ('b', 'rule', 0, 0, 0, 0),
     ('c', 'fact', 0, 0, 0, 0), ('c', 'rule', 1, 0, 1, 0),
     ('d', 'fact', 0, 0, 0, 0), ('d', 'rule', 0, 0, 0, 0) $$,
  'all tenants can be swept in one call'
);
select is(
  memory.current_tenant(), 'a', 'a sweep of all tenants leaves the transaction with its tenant'
);
select memory_test.a_login('decay_worker', 'a', 'memory_worker');
select memory_test.a_login('decay_gateway', null, 'memory_worker, memory_gateway');
select memory_test.share_results();
set local session authorization decay_worker;
select throws_ok(
  $$ select memory.run_decay_sweep_all_tenants() $$, 'PM005', 'login decay_worker may not act for all tenants',
  'a login of one tenant cannot sweep all tenants'
);
select throws_ok(
  $$ select memory.list_tenants() $$, 'PM005', 'login decay_worker may not act for all tenants',
  'a login of one tenant cannot list the tenants'
);
select lives_ok(
  $$ select memory.run_decay_sweep() $$, 'a login of one tenant can sweep its own tenant'
);
set local session authorization decay_gateway;
select memory_test.as_tenant('') \g /dev/null
select isnt_empty(
  $$ select memory.run_decay_sweep_all_tenants(memory_test.on_day(300)) $$,
  'a gateway can sweep all tenants without naming a tenant'
);
select throws_ok(
  $$ select memory.run_decay_sweep() $$, '28000', 'this transaction names no tenant',
  'a gateway has no tenant after a sweep of all tenants'
);
set local session authorization default;

-- A transaction is bounded.
select memory_test.as_tenant('many') \g /dev/null
insert into memory.facts (tenant_id, subject, predicate, content, valid_from, valid_to, created_at)
select 'many', 'subject ' || n, 'is', 'fact', '2026-01-01Z', '2026-01-02Z', '2026-01-01Z'
from generate_series(1, 10003) as n;
select is(memory_test.swept('2026-01-03Z'), '10003/0/10000/0 0/0/0/0', 'one sweep changes at most 10,000 facts');
select is(memory_test.swept('2026-01-03Z'), '3/0/3/0 0/0/0/0', 'the next one changes the others');

select * from finish();
rollback;
