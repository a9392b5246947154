begin;
\ir fixtures.sql
select plan(38);

select is(memory.peek_memory('fact', gen_random_uuid()), null, 'there is nothing to see of an unknown memory');

select memory.entity_create('Ada', 'person') as ada \gset
select memory.store_episode('Ada said that she drinks tea', 'home', as_of => '2026-01-01Z') as episode \gset
select memory.store_fact('Ada', 'drinks', 'coffee', entity_id => :'ada', as_of => '2026-01-01Z') as coffee \gset
select memory.store_fact(
  'Ada', 'drinks', 'tea', entity_id => :'ada', source_episode_id => :'episode', permanence => 'volatile',
  as_of => '2026-01-02Z'
) as tea \gset
select memory.store_rule('Offer tea', as_of => '2026-01-01Z') as rule \gset

-- peek_memory

select is(
  memory.peek_memory('fact', :'tea', '2026-01-12Z') - 'memory' - 'links' - 'fades_at' - 'ends_at' - 'next_state_at' - 'effective_confidence',
  jsonb_build_object(
    'state', 'active', 'next_state', 'fading', 'fading_threshold', 0.2, 'expiry_threshold', 0.05, 'contradicted', false,
    'entity', jsonb_build_object('entity_id', :'ada', 'canonical_name', 'Ada'), 'superseded_by', null,
    'links_total', 2, 'outcomes', '[]'::jsonb, 'outcomes_total', 0
  ),
  'a fact is seen with its entity and what becomes of it'
);
select is(
  memory.peek_memory('fact', :'tea', '2026-01-12Z') -> 'memory' ->> 'content', 'tea', 'with all its columns'
);
select ok(
  not memory.peek_memory('fact', :'tea') -> 'memory' ?| '{tenant_id,embedding,search_vector}', 'but those that nobody reads'
);
select is(
  memory.peek_memory('fact', :'tea') -> 'memory',
  memory.get_memory('fact', :'tea') || '{"reference_count": 0, "last_referenced_at": null}', 'which are those of get_memory'
);
select is(
  memory.peek_memory('fact', :'tea') -> 'memory' ->> 'reference_count', '1', 'looking counts nothing'
);
select is(
  (memory.peek_memory('fact', :'tea', '2026-01-12Z') ->> 'effective_confidence')::float8, exp(-0.03 * 10)::float8, 'its confidence is that of the time'
);
select is(
  (
    select (p.peeked ->> 'fades_at')::timestamptz = (p.peeked ->> 'next_state_at')::timestamptz
      and abs(memory.effective_confidence(1, 0.03, '2026-01-02Z', (p.peeked ->> 'fades_at')::timestamptz) - 0.2) < 1e-9
      and abs(memory.effective_confidence(1, 0.03, '2026-01-02Z', (p.peeked ->> 'ends_at')::timestamptz) - 0.05) < 1e-9
    from memory.peek_memory('fact', :'tea', '2026-01-12Z') as p (peeked)
  ),
  true, 'it fades when its confidence has decayed to one threshold, and ends at the other'
);
select results_eq(
  format(
    $$ select l.link ->> 'relation', l.link ->> 'other_type', l.link ->> 'other_id', l.link ->> 'other_text', l.link ->> 'target_state'
       from jsonb_array_elements(memory.peek_memory('fact', %L, '2026-01-03Z') -> 'links') as l (link) order by 1 $$, :'tea'
  ),
  format(
    $$ values
       ('derived_from', 'episode', %L, 'Ada said that she drinks tea', 'pending'),
       ('supersedes', 'fact', %L, '[Ada] [drinks]: coffee', 'superseded') $$, :'episode', :'coffee'
  ),
  'its links say what is at the other end'
);
select is(
  (
    select array[p.peeked ->> 'state', p.peeked ->> 'superseded_by', p.peeked ->> 'next_state', p.peeked ->> 'fades_at', p.peeked ->> 'ends_at']
    from memory.peek_memory('fact', :'coffee', '2026-01-12Z') as p (peeked)
  ),
  array['superseded', :'tea', null, null, null], 'a superseded fact names its successor and has no future'
);
select memory.mark_harmful(:'rule', 'too hot', '{"at": "noon"}', '2026-01-02Z') \g /dev/null
select memory.mark_helpful(:'rule', as_of => '2026-01-03Z') \g /dev/null
select results_eq(
  format(
    $$ select o.outcome -> 'outcome', o.outcome -> 'reason', o.outcome -> 'context', (o.outcome ->> 'created_at')::timestamptz
       from jsonb_array_elements(memory.peek_memory('rule', %L) -> 'outcomes') with ordinality as o (outcome, position) order by o.position $$, :'rule'
  ),
  $$ values ('"helpful"'::jsonb, 'null'::jsonb, '{}'::jsonb, '2026-01-03Z'::timestamptz), ('"harmful"', '"too hot"', '{"at": "noon"}', '2026-01-02Z') $$,
  'a rule is seen with its outcomes, the newest first'
);
select is(
  (select array[p.peeked ->> 'outcomes_total', p.peeked ->> 'next_state'] from memory.peek_memory('rule', :'rule', '2026-01-04Z') as p (peeked)),
  '{2,fading}', 'and how many there are'
);
select is(
  (
    select array[p.peeked ->> 'state', p.peeked ->> 'next_state', (p.peeked ->> 'next_state_at')::timestamptz::text, p.peeked ->> 'effective_confidence']
    from memory.peek_memory('episode', :'episode', '2026-01-02Z') as p (peeked)
  ),
  array['pending', 'expired', '2026-01-08Z'::timestamptz::text, '1'], 'an episode ends when it expires'
);
select is(
  memory.peek_memory('episode', :'episode', '2026-01-08Z') ->> 'state', 'expired', 'and is expired from then on'
);
select memory.create_link('fact', :'tea', 'rule', :'rule', 'contradicts') \g /dev/null
select is(
  (memory.peek_memory('rule', :'rule') -> 'contradicted', memory.peek_memory('fact', :'tea') -> 'contradicted')::text, '(true,true)',
  'what contradicts each other says so'
);
select memory.forget_memory('fact', :'tea', '2026-01-20Z') \g /dev/null
select is(
  memory.peek_memory('rule', :'rule') -> 'contradicted', 'false', 'until one of them is forgotten'
);
select memory.restore_memory('fact', :'tea', '2026-01-21Z') \g /dev/null
insert into memory.entries (id, tenant_id, entry_id, content, policy, user_id)
values ('c0000000-0000-0000-0000-000000000001', 'a', 'mem-2026-01-08-001', 'secret', 'billy', 'Ada');
select throws_ok(
  format('select memory.%s(%L, %L)', f.name, 'entry', 'c0000000-0000-0000-0000-000000000001'), 'PM008', null,
  format('%s shows no guarded entry', f.name)
)
from unnest('{peek_memory,decay_curve}'::text[]) with ordinality as f (name, position)
order by f.position;
select throws_ok(c.call, 'PM002', null, format('%s is refused', c.what))
from (values
  (1, 'peek_memory of an unknown type', $$ select memory.peek_memory('entity', gen_random_uuid()) $$),
  (2, 'peek_memory at no time', $$ select memory.peek_memory('fact', gen_random_uuid(), null) $$)
) as c (position, what, call)
order by c.position;
select memory_test.as_tenant('b') \g /dev/null
select is(memory.peek_memory('fact', :'tea'), null, 'another tenant sees nothing');
select is_empty(format($$ select * from memory.decay_curve('fact', %L) $$, :'tea'), 'nor a curve');
select memory_test.as_tenant('a') \g /dev/null

-- decay_curve

select memory.store_fact('Ada', 'eats', 'cake', permanence => 'ephemeral', as_of => '2026-01-01Z') as cake \gset
select results_eq(
  format(
    $$ select c.at, round(c.effective_confidence::numeric, 9), c.state, c.mark
       from memory.decay_curve('fact', %L, '2026-01-01Z', '2026-01-05Z', 3, '2026-01-02Z') as c $$, :'cake'
  ),
  $$ select v.at::timestamptz, round(exp(-0.1 * v.days)::numeric, 9), v.state, v.mark
     from (values
       ('2026-01-01Z', 0, 'active', null), ('2026-01-01Z', 0, 'active', 'created'), ('2026-01-02Z', 1, 'active', 'now'),
       ('2026-01-03Z', 2, 'active', null), ('2026-01-05Z', 4, 'active', null)
     ) as v (at, days, state, mark) $$,
  'a curve has as many points as wanted, and marks'
);
select results_eq(
  format(
    $$ select c.mark, round(c.effective_confidence::numeric, 6), c.state
       from memory.decay_curve('fact', %L, points => 2, as_of => '2026-01-02Z') as c where c.mark is not null $$, :'cake'
  ),
  $$ values ('created', 1::numeric(7, 6), 'active'), ('now', round(exp(-0.1)::numeric, 6), 'active'), ('fades', 0.2, 'active'), ('ends', 0.05, 'expired') $$,
  'without times it goes from the creation beyond the end'
);
select is(
  (select array[min(c.state), max(c.state), count(*)::text] from memory.decay_curve('fact', :'cake', '2026-01-20Z', '2026-01-25Z', 6, '2026-01-02Z') as c where c.mark is null),
  array['fading', 'fading', '6'], 'below the first threshold it will be fading'
);
select is(
  (select array_agg(distinct array[c.fading_threshold, c.expiry_threshold]) from memory.decay_curve('fact', :'cake', points => 2, as_of => '2026-01-02Z') as c),
  array[array[0.2, 0.05]]::float8[], 'each point has the thresholds'
);
select memory.confirm_memory('fact', :'cake', '2026-01-11Z') \g /dev/null
select results_eq(
  format(
    $$ select c.at, round(c.effective_confidence::numeric, 9), c.mark
       from memory.decay_curve('fact', %L, '2026-01-01Z', '2026-01-21Z', 5, '2026-01-21Z') as c where c.mark is distinct from 'now' $$, :'cake'
  ),
  $$ select v.at::timestamptz, round(exp(-0.1 * v.days)::numeric, 9), v.mark
     from (values
       ('2026-01-01Z', 0, null), ('2026-01-01Z', 0, 'created'), ('2026-01-06Z', 5, null), ('2026-01-11Z', 0, null),
       ('2026-01-11Z', 0, 'confirmed'), ('2026-01-16Z', 5, null), ('2026-01-21Z', 10, null)
     ) as v (at, days, mark) $$,
  'the past follows its history: a confirmation lets the decay begin again'
);
select memory.forget_memory('fact', :'cake', '2026-01-16Z') \g /dev/null
select results_eq(
  format(
    $$ select c.at, c.state, c.mark from memory.decay_curve('fact', %L, '2026-01-14Z', '2026-01-18Z', 3, '2026-01-17Z') as c $$, :'cake'
  ),
  $$ values ('2026-01-14Z'::timestamptz, 'active', null), ('2026-01-16Z', 'retracted', null), ('2026-01-17Z', 'retracted', 'now'), ('2026-01-18Z', 'retracted', null) $$,
  'and so does its state'
);
select is(
  (select array_agg(distinct c.effective_confidence) from memory.decay_curve('episode', :'episode', points => 5, as_of => '2026-01-02Z') as c),
  '{1}', 'the curve of an episode is flat'
);
select is(
  (select array_agg(c.state order by c.at) from memory.decay_curve('episode', :'episode', '2026-01-07Z', '2026-01-09Z', 3, '2026-01-02Z') as c where c.mark is null),
  '{pending,expired,expired}', 'and says when it expires'
);
select is_empty($$ select * from memory.decay_curve('fact', gen_random_uuid()) $$, 'an unknown memory has no curve');
select throws_ok(
  format('select memory.decay_curve(%L, %L, %s)', 'fact', :'tea', c.arguments), 'PM002', null, format('a curve with %s is refused', c.arguments)
)
from unnest(array['points => 1', 'points => 1001', 'to_at => ''2026-01-01Z''', 'from_at => ''2026-03-01Z'', to_at => ''2026-03-01Z''', 'from_at => ''infinity''', 'as_of => null']) with ordinality as c (arguments, position)
order by c.position;

select memory.undo_event(e.id)
from memory.memory_events as e
where e.memory_id = :'tea' and e.event_type = 'fact_created' \g /dev/null
select is(
  (
    select array[p.peeked ->> 'state', p.peeked ->> 'superseded_by']
    from memory.peek_memory('fact', :'coffee') as p (peeked)
  ),
  array['active', null], 'a fact that came back names no successor'
);
select * from finish();
rollback;
