begin;
\ir fixtures.sql
select plan(25);

select memory.store_fact('Ada', 'favorite color', 'green', as_of => '2026-01-01Z') as green \gset
select memory.store_fact('Ada', 'favoriteColor', 'blue', as_of => '2026-01-02Z') as blue \gset
select memory.store_rule('Never offer tea', as_of => '2026-01-01Z') as rule \gset
select memory.store_fact('Ada', 'drinks', 'tea', as_of => '2026-01-01Z') as tea \gset
select memory.create_link('fact', :'tea', 'rule', :'rule', 'contradicts') \g /dev/null

create function memory_test.pairs() returns text[] language sql as $$
  select coalesce(array_agg(c.kind order by c.kind), '{}') from memory.list_contradictions() as c
$$;
select is(memory_test.pairs(), '{contradicts,near_duplicate}', 'two pairs contradict each other');

select is(memory.dismiss_contradiction('fact', :'blue', 'fact', :'green', '2026-01-03Z'), true, 'a pair can be dismissed');
select is(memory_test.pairs(), '{contradicts}', 'and is no longer listed');
select is(memory.dismiss_contradiction('fact', :'green', 'fact', :'blue'), false, 'dismissing it again, in either order, is nothing new');
select results_eq(
  $$ select e.event_type, e.payload - '{first_id,second_id}'::text[] from memory.memory_events as e where e.event_type like 'contradiction%' $$,
  $$ values ('contradiction_dismissed', '{"first_type": "fact", "second_type": "fact"}'::jsonb) $$, 'it is audited once, with both ends'
);
select is(memory.list_contradicted('fact', array[:'tea']::uuid[]), array[:'tea']::uuid[], 'a fact is contradicted by a rule');
select is(memory.dismiss_contradiction('rule', :'rule', 'fact', :'tea'), true, 'memories of two types can be dismissed');
select is(memory_test.pairs(), '{}', 'then nothing is left to review');
select is(memory.list_contradicted('fact', array[:'tea']::uuid[]), '{}', 'the fact is no longer marked as contradicted');
select is(memory.list_contradicted('rule', array[:'rule']::uuid[]), '{}', 'nor is the rule');
select unalike(memory.context('tea', 'home', as_of => '2026-01-03Z'), '%contradicted%', 'in a context neither');
select isnt_empty(
  $$ select from memory.memory_links as l where l.relation = 'contradicts' $$, 'the link stays'
);
select is(memory.reopen_contradiction('fact', :'tea', 'rule', :'rule'), true, 'a pair can be reopened');
select is(memory_test.pairs(), '{contradicts}', 'and is listed again');
select is(memory.reopen_contradiction('rule', :'rule', 'fact', :'tea'), false, 'once');
select is(
  (select array_agg(e.event_type order by e.seq) from memory.memory_events as e where e.event_type like 'contradiction%'),
  '{contradiction_dismissed,contradiction_dismissed,contradiction_reopened}', 'which is audited too'
);
select throws_ok(format('select memory.dismiss_contradiction(%L, %L, %L, %L, %L)', c.one_type, c.one_id, c.other_type, c.other_id, c.as_of), c.code, null, format('%s is refused', c.what))
from (values
  (1, 'an unknown memory', 'fact', gen_random_uuid()::text, 'fact', :'blue', '2026-01-03Z', 'PM001'),
  (2, 'no memory', 'fact', :'blue', 'fact', null, '2026-01-03Z', 'PM001'),
  (3, 'a memory and itself', 'fact', :'blue', 'fact', :'blue', '2026-01-03Z', 'PM002'),
  (4, 'an entity', 'fact', :'blue', 'entity', :'green', '2026-01-03Z', 'PM002'),
  (5, 'the distant future', 'fact', :'blue', 'fact', :'tea', '2126-01-03Z', 'PM002')
) as c (position, what, one_type, one_id, other_type, other_id, as_of, code)
order by c.position;
select throws_ok($$ truncate memory.dismissed_contradictions $$, 'PM006', null, 'they cannot be forgotten without a trace');

select memory_test.as_tenant('b') \g /dev/null
select throws_ok(
  format('select memory.dismiss_contradiction(%L, %L, %L, %L)', 'fact', :'blue', 'fact', :'green'), 'PM001', null,
  'another tenant cannot dismiss it'
);
select is(memory.reopen_contradiction('fact', :'blue', 'fact', :'green'), false, 'or reopen it');
select memory_test.as_tenant('a') \g /dev/null
select is(memory_test.pairs(), '{contradicts}', 'which changed nothing');

select * from finish();
rollback;
