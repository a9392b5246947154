begin;
\ir fixtures.sql
select plan(38);

-- Valid time

select memory.store_fact('Ada', 'lives in', 'Paris', valid_from => '2020-01-01Z', as_of => '2026-01-01Z') as paris \gset
select memory.store_fact('Ada', 'lives in', 'Rome', valid_from => '2024-05-01Z', as_of => '2026-02-01Z') as rome \gset
select results_eq(
  $$ select f.content, f.valid_from, f.valid_to from memory.facts as f order by f.created_at $$,
  $$ values
     ('Paris', '2020-01-01Z'::timestamptz, '2024-05-01Z'::timestamptz), ('Rome', '2024-05-01Z', null) $$,
  'a successor ends the validity of its predecessor where its own begins'
);
select memory.store_fact(
  'Ada', 'lives in', 'Lyon', valid_from => '2010-01-01Z', valid_to => '2020-01-01Z', as_of => '2026-03-01Z'
) as lyon \gset
select results_eq(
  $$ select f.content, f.lifecycle_state, f.supersedes_id is null from memory.facts as f where f.validity = 'active' or f.content = 'Lyon' order by 1 $$,
  $$ values ('Lyon', 'superseded', true), ('Rome', 'active', false) $$,
  'a fact that ended before it was stored supersedes nothing'
);
select memory.store_fact('Ada', 'works at', 'the mill', as_of => '2026-01-01Z') as mill \gset
select memory.store_fact('Ada', 'works at', 'the port', valid_from => '2019-01-01Z', as_of => '2026-01-02Z') \g /dev/null
select results_eq(
  $$ select f.content, f.validity, f.valid_from, f.valid_to
     from memory.facts as f where f.predicate = 'works at' order by 1 $$,
  $$ values
     ('the mill', 'active', '2026-01-01Z'::timestamptz, null::timestamptz),
     ('the port', 'superseded', '2019-01-01Z', '2026-01-01Z') $$,
  'a fact that is stored later but was true earlier is history'
);
select memory.store_facts(
  '[
    {"subject": "Bob", "predicate": "mood", "content": "well", "valid_from": "2026-01-01Z"},
    {"subject": "Bob", "predicate": "mood", "content": "ill", "valid_from": "2026-01-05Z"},
    {"subject": "Bob", "predicate": "mood", "content": "young", "valid_from": "2001-01-01Z", "valid_to": "2019-01-01Z"}
  ]',
  as_of => '2026-02-01Z'
) \g /dev/null
select results_eq(
  $$ select f.content, f.validity, f.supersedes_id is not null, f.valid_from, f.valid_to
     from memory.facts as f where f.subject = 'Bob' order by 1 $$,
  $$ values
     ('ill', 'active', true, '2026-01-05Z'::timestamptz, null::timestamptz),
     ('well', 'superseded', false, '2026-01-01Z', '2026-01-05Z'),
     ('young', 'superseded', false, '2001-01-01Z', '2019-01-01Z') $$,
  'facts in a batch supersede each other by their intervals'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', valid_from => '2026-01-02Z', valid_to => '2026-01-01Z') $$,
  'PM002', null, 'an interval that ends before it begins is refused'
);
select throws_ok(
  $$ select memory.store_fact('s', 'p', 'c', valid_from => '-infinity') $$, 'PM002', null,
  'an infinite valid_from is refused'
);
select throws_ok(
  $$ select memory.store_facts('[{"subject": "s", "predicate": "p", "content": "c", "valid_to": "2001-01-01Z"}]') $$,
  'PM002', null, 'an interval that ends before it begins is refused in a batch'
);
select memory.store_fact(
  'Ada', 'stays at', 'the sea', permanence => 'permanent', valid_to => '2026-07-01Z', as_of => '2026-06-01Z'
) as sea \gset
select memory.run_decay_sweep('2026-06-30Z') \g /dev/null
select is(
  (select f.validity from memory.facts as f where f.id = :'sea'), 'active',
  'a fact is active until its valid_to'
);
select memory.run_decay_sweep('2026-07-01Z') \g /dev/null
select is(
  (select f.validity from memory.facts as f where f.id = :'sea'), 'expired',
  'a fact expires at its valid_to, even if it is permanent'
);

-- States

select is(
  (select f.updated_at from memory.facts as f where f.id = :'rome'), '2026-02-01Z'::timestamptz,
  'the first state begins when the fact is stored'
);
select results_eq(
  format(
    $$ select h.known_from, h.known_to, h.image ->> 'validity', h.image ->> 'valid_to'
       from memory.memory_history as h where h.memory_id = %L $$, :'paris'
  ),
  $$ values ('2026-01-01Z'::timestamptz, '2026-02-01Z'::timestamptz, 'active', null) $$,
  'a state that ended is kept with the times when it began and ended'
);
select memory.confirm_memory('fact', :'rome', '2026-04-01Z') \g /dev/null
select memory.confirm_memory('fact', :'rome', '2026-03-01Z') \g /dev/null
select results_eq(
  format($$ select h.known_from, h.known_to from memory.memory_history as h where h.memory_id = %L order by 1 $$, :'rome'),
  $$ values
     ('2026-02-01Z'::timestamptz, '2026-04-01Z'::timestamptz),
     ('2026-04-01Z', '2026-04-01Z'::timestamptz + interval '1 microsecond') $$,
  'a backdated change comes right after the previous one'
);
select count(*) as states from memory.memory_history \gset
select count(*) from memory.recall('Ada lives in Rome') \g /dev/null
select memory.get_memory('fact', :'rome') \g /dev/null
select is(
  (select count(*)::integer from memory.memory_history), :states,
  'reading a memory adds no state to its history'
);
select throws_ok(
  $$ update memory.memory_history as h set image = '{}' $$, 'PM006', null,
  'the history cannot be updated'
);
select throws_ok(
  $$ delete from memory.memory_history as h $$, 'PM006', null, 'the history cannot be deleted'
);
select throws_ok(
  $$ truncate memory.memory_history $$, 'PM006', null, 'the history cannot be truncated'
);
select is_empty(
  $$ select h.image from memory.memory_history as h where h.image ?| '{embedding,search_vector,reference_count,tenant_id}' $$,
  'a state does not contain vectors and counters'
);

-- fact_history

select results_eq(
  format(
    $$ select h.position, h.content, h.lifecycle_state, h.valid_from, h.valid_to, h.known_from, h.known_to
       from memory.fact_history(%L) as h $$, :'rome'
  ),
  $$ values
     (1::bigint, 'Paris', 'superseded', '2020-01-01Z'::timestamptz, '2024-05-01Z'::timestamptz,
      '2026-01-01Z'::timestamptz, '2026-02-01Z'::timestamptz),
     (2, 'Rome', 'active', '2024-05-01Z', null, '2026-02-01Z', null) $$,
  'fact_history returns a fact and what it superseded, with valid and known times'
);
select results_eq(
  format($$ select h.content from memory.fact_history(%L) as h $$, :'paris'),
  $$ values ('Paris'), ('Rome') $$, 'fact_history returns the same chain for each of its facts'
);
select memory.forget_memory('fact', :'rome', '2026-05-01Z') \g /dev/null
select memory.restore_memory('fact', :'paris', '2026-05-02Z') \g /dev/null
select memory.store_fact('Ada', 'lives in', 'Oslo', as_of => '2026-05-03Z') as oslo \gset
select results_eq(
  format($$ select h.content, h.lifecycle_state, h.known_to from memory.fact_history(%L) as h $$, :'oslo'),
  $$ values
     ('Paris', 'superseded', '2026-05-03Z'::timestamptz), ('Rome', 'retracted', '2026-05-01Z'),
     ('Oslo', 'active', null) $$,
  'a fact that was restored can be superseded again'
);
select is_empty(
  $$ select * from memory.fact_history(gen_random_uuid()) $$, 'an unknown fact has no history'
);

-- replay_memory

select results_eq(
  format(
    $$ select r.position, r.known_from, r.known_to, r.event_type, r.image ->> 'lifecycle_state', r.problem
       from memory.replay_memory('fact', %L) as r $$, :'paris'
  ),
  $$ values
     (1::bigint, '2026-01-01Z'::timestamptz, '2026-02-01Z'::timestamptz, 'fact_created', 'active', null),
     (2, '2026-02-01Z', '2026-05-02Z', 'fact_superseded', 'superseded', null),
     (3, '2026-05-02Z', '2026-05-03Z', 'fact_restored', 'active', null),
     (4, '2026-05-03Z', null, 'fact_superseded', 'superseded', null) $$,
  'replay_memory returns every state of a fact, with the event that led to it'
);
set local extra_float_digits = -3;
select memory.store_fact('Ada', 'weighs', 'a stone', confidence => 0.30000000000000004::float8, as_of => '2026-01-01Z')
as stone \gset
select memory.confirm_memory('fact', :'stone', '2026-01-02Z') \g /dev/null
select memory.confirm_memory('fact', :'stone', '2026-01-03Z') \g /dev/null
reset extra_float_digits;
select results_eq(
  format($$ select r.image -> 'confidence', r.problem from memory.replay_memory('fact', %L) as r $$, :'stone'),
  $$ select '0.30000000000000004'::jsonb, null::text from generate_series(1, 3) $$,
  'the history keeps numbers whole, whatever digits the session prints'
);
set local extra_float_digits = -3;
select is_empty(
  format($$ select from memory.replay_memory('fact', %L) as r where r.problem is not null $$, :'stone'),
  'replay_memory compares whole numbers in such a session'
);
reset extra_float_digits;
select memory.store_rule('Be brief', as_of => '2026-01-01Z') as rule \gset
select memory.mark_helpful(:'rule', as_of => '2026-01-02Z') from generate_series(1, 5) \g /dev/null
select memory.mark_harmful(:'rule', 'rude', as_of => '2026-01-03Z') from generate_series(1, 9) \g /dev/null
select memory.run_rule_hygiene('2026-01-04Z') \g /dev/null
select is(
  (
    select array_agg(r.event_type order by r.position) filter (where r.event_type is not null)
    from memory.replay_memory('rule', :'rule') as r
  ),
  '{rule_created,rule_promoted,rule_demoted,rule_inverted}',
  'replay_memory returns the events of a rule''s maturity'
);
select is(
  (select array_agg(r.image ->> 'content' order by r.position) from memory.replay_memory('rule', :'rule') as r where r.position in (1, 16)),
  '{Be brief,"ANTI-PATTERN: Do NOT Be brief. This caused problems because: rude"}',
  'replay_memory returns the changed text of an inverted rule'
);
select is_empty(
  $$ select m.memory_type, m.id, r.* from memory.searchable_memories as m
     cross join lateral memory.replay_memory(m.memory_type, m.id) as r
     where m.tenant_id = 'a' and r.problem is not null $$,
  'replaying every memory finds no problem'
);
set local timezone = 'Asia/Kathmandu';
select is_empty(
  $$ select r.* from memory.searchable_memories as m
     cross join lateral memory.replay_memory(m.memory_type, m.id) as r
     where m.tenant_id = 'a' and r.problem is not null $$,
  'replaying every memory finds no problem in another time zone'
);
set local timezone = 'UTC';

-- Writes past the triggers

create function memory_test.problems_after(
  statement text,
  memory_type text,
  memory_id uuid
)
  returns text[]
  language plpgsql
as $$
declare
  v_problems text[];
begin
  begin
    set local session_replication_role = replica;
    execute statement;
    set local session_replication_role = origin;
    v_problems := array(
      select r.problem from memory.replay_memory(memory_type, memory_id) as r
      where r.problem is not null order by r.position
    );
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then return v_problems;
  end;
end;
$$;
select is(
  memory_test.problems_after(
    format('update memory.facts set confidence = 0.1 where id = %L', :'paris'), 'fact', :'paris'
  ),
  '{"it was changed without a history entry"}', 'replay_memory finds an edited row'
);
select is(
  (memory_test.problems_after(
    format('delete from memory.memory_history where memory_id = %L and known_from = %L', :'paris', '2026-02-01Z'),
    'fact', :'paris'
  ))[1],
  'the state before it is missing; it was changed without a history entry',
  'replay_memory finds a deleted state'
);
select is(
  memory_test.problems_after(
    format($$ alter table memory.memory_events disable trigger refuse_change; delete from memory.memory_events where memory_id = %L and event_type = 'fact_created' $$, :'rome'),
    'fact', :'rome'
  ),
  '{"no event records its creation"}', 'replay_memory finds a deleted event'
);
select is(
  memory_test.problems_after(
    format($$ update memory.facts set validity = 'expired', updated_at = updated_at + interval '1 s' where id = %L $$, :'oslo'),
    'fact', :'oslo'
  ),
  '{"the state before it is missing; no event records its creation","no state follows the event from [*] to active"}',
  'replay_memory finds an edited row that was given a later date'
);
select is_empty(
  $$ select * from memory.replay_memory('fact', gen_random_uuid()) $$,
  'replay_memory returns nothing for an unknown memory'
);
select throws_ok(
  $$ select memory.replay_memory('link', gen_random_uuid()) $$, 'PM002', null,
  'replay_memory refuses an unknown memory type'
);

-- Deletions

select memory.store_episode('tea', 'home', as_of => '2026-01-01Z') as episode \gset
select memory.forget_memory('episode', :'episode', '2026-01-02Z') \g /dev/null
select is(
  (select count(*) from memory.memory_history as h where h.memory_id = :'episode'), 1::bigint,
  'an episode has a history'
);
select memory.run_episode_cleanup(as_of => '2026-01-03Z') \g /dev/null
select is(
  (select count(*) from memory.memory_history as h where h.memory_id = :'episode'), 0::bigint,
  'the history of an episode is deleted with it'
);

select memory_test.as_tenant('b') \g /dev/null
select is_empty(
  format($$ select * from memory.fact_history(%L) $$, :'rome'),
  'another tenant sees no history of the fact'
);
select is_empty(
  format($$ select * from memory.replay_memory('fact', %L) $$, :'rome'),
  'another tenant cannot replay the fact'
);

select * from finish();
rollback;
