begin;
\ir fixtures.sql
select plan(166);

-- The expected transitions: [*] is a row that does not exist yet, or no longer exists.

create table memory_test.edges (
  memory_type text,
  aspect text,
  from_state text,
  to_state text,
  event_type text
);

insert into memory_test.edges (memory_type, aspect, from_state, to_state, event_type)
values
('episode', 'lifecycle_state', '[*]', 'pending', 'episode_created'),
('episode', 'lifecycle_state', 'pending', 'consolidated', 'episode_consolidated'),
('episode', 'lifecycle_state', 'pending', 'failed', 'episode_failed'),
('episode', 'lifecycle_state', 'pending', 'dead_letter', 'episode_dead_lettered'),
('episode', 'lifecycle_state', 'failed', 'consolidated', 'episode_consolidated'),
('episode', 'lifecycle_state', 'failed', 'dead_letter', 'episode_dead_lettered'),
('episode', 'lifecycle_state', 'failed', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'dead_letter', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'consolidated', 'pending', 'episode_requeued'),
('episode', 'lifecycle_state', 'pending', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'consolidated', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'failed', '[*]', 'episode_deleted'),
('episode', 'lifecycle_state', 'dead_letter', '[*]', 'episode_deleted'),
('fact', 'lifecycle_state', '[*]', 'active', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'fading', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'superseded', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'expired', 'fact_created'),
('fact', 'lifecycle_state', '[*]', 'retracted', 'fact_created'),
('fact', 'lifecycle_state', 'active', 'fading', 'fact_fading'),
('fact', 'lifecycle_state', 'fading', 'active', 'fact_recovered'),
('fact', 'lifecycle_state', 'active', 'superseded', 'fact_superseded'),
('fact', 'lifecycle_state', 'fading', 'superseded', 'fact_superseded'),
('fact', 'lifecycle_state', 'active', 'expired', 'fact_expired'),
('fact', 'lifecycle_state', 'fading', 'expired', 'fact_expired'),
('fact', 'lifecycle_state', 'active', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'fading', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'superseded', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'expired', 'retracted', 'fact_retracted'),
('fact', 'lifecycle_state', 'superseded', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'expired', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'retracted', 'active', 'fact_restored'),
('fact', 'lifecycle_state', 'active', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'fading', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'superseded', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'expired', '[*]', 'fact_deleted'),
('fact', 'lifecycle_state', 'retracted', '[*]', 'fact_deleted'),
('rule', 'lifecycle_state', '[*]', 'active', 'rule_created'),
('rule', 'lifecycle_state', '[*]', 'fading', 'rule_created'),
('rule', 'lifecycle_state', '[*]', 'retracted', 'rule_created'),
('rule', 'lifecycle_state', 'active', 'fading', 'rule_fading'),
('rule', 'lifecycle_state', 'fading', 'active', 'rule_recovered'),
('rule', 'lifecycle_state', 'active', 'retracted', 'rule_retracted'),
('rule', 'lifecycle_state', 'fading', 'retracted', 'rule_retracted'),
('rule', 'lifecycle_state', 'retracted', 'active', 'rule_restored'),
('rule', 'lifecycle_state', 'active', '[*]', 'rule_deleted'),
('rule', 'lifecycle_state', 'fading', '[*]', 'rule_deleted'),
('rule', 'lifecycle_state', 'retracted', '[*]', 'rule_deleted'),
('rule', 'maturity', 'candidate', 'established', 'rule_promoted'),
('rule', 'maturity', 'established', 'proven', 'rule_promoted'),
('rule', 'maturity', 'established', 'candidate', 'rule_demoted'),
('rule', 'maturity', 'proven', 'established', 'rule_demoted'),
('rule', 'maturity', 'candidate', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'established', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'proven', 'anti_pattern', 'rule_inverted'),
('rule', 'maturity', 'anti_pattern', 'candidate', 'rule_restored'),
('rule', 'maturity', 'anti_pattern', 'established', 'rule_restored'),
('rule', 'maturity', 'anti_pattern', 'proven', 'rule_restored'),
('entry', 'lifecycle_state', '[*]', 'active', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'guarded', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'aged', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'archived', 'entry_created'),
('entry', 'lifecycle_state', '[*]', 'expired', 'entry_created'),
('entry', 'lifecycle_state', 'active', 'aged', 'entry_aged'),
('entry', 'lifecycle_state', 'active', 'archived', 'entry_archived'),
('entry', 'lifecycle_state', 'aged', 'archived', 'entry_archived'),
('entry', 'lifecycle_state', 'aged', 'active', 'entry_revived'),
('entry', 'lifecycle_state', 'archived', 'active', 'entry_revived'),
('entry', 'lifecycle_state', 'archived', 'aged', 'entry_revived'),
('entry', 'lifecycle_state', 'active', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'aged', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'archived', 'expired', 'entry_expired'),
('entry', 'lifecycle_state', 'guarded', 'expired', 'memory_expired'),
('entry', 'lifecycle_state', 'active', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'aged', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'archived', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'guarded', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'expired', 'retracted', 'entry_deleted'),
('entry', 'lifecycle_state', 'retracted', 'active', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'aged', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'archived', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'guarded', 'entry_restored'),
('entry', 'lifecycle_state', 'retracted', 'expired', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'active', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'aged', 'entry_restored'),
('entry', 'lifecycle_state', 'expired', 'archived', 'entry_restored'),
('entry', 'lifecycle_state', 'active', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'aged', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'archived', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'guarded', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'expired', '[*]', 'entry_purged'),
('entry', 'lifecycle_state', 'retracted', '[*]', 'entry_purged'),
('entity', 'lifecycle_state', '[*]', 'active', 'entity_created'),
('entity', 'lifecycle_state', '[*]', 'merged', 'entity_created'),
('entity', 'lifecycle_state', 'active', 'merged', 'entity_merge'),
('entity', 'lifecycle_state', 'merged', 'active', 'entity_unmerge'),
('entity', 'lifecycle_state', 'active', '[*]', 'entity_deleted'),
('entity', 'lifecycle_state', 'merged', '[*]', 'entity_deleted'),
('item', 'lifecycle_state', '[*]', 'active', 'item_stored'),
('item', 'lifecycle_state', 'active', '[*]', 'item_deleted');

select set_eq(
  $$ select t.* from memory.transitions as t $$, $$ select e.* from memory_test.edges as e $$,
  'the declared transitions match the expected ones'
);

-- How a row enters a state: the columns that an operator sets.

create table memory_test.states (
  memory_type text,
  aspect text,
  state text,
  insertion text,
  change text
);

insert into memory_test.states (memory_type, aspect, state, insertion, change)
select
  'episode', 'lifecycle_state', s.state,
  format(
    $$ insert into memory.episodes (tenant_id, id, butler, content, search_vector, consolidated,
         consolidation_status)
       values ('a', '00000000-0000-0000-0000-000000000001', 'home', 'x', '', %L, %L) $$,
    s.state = 'consolidated', s.state
  ),
  format('update memory.episodes as e set consolidation_status = %L', s.state)
from unnest('{pending,consolidated,failed,dead_letter}'::text[]) as s (state)
union all
select
  'fact', 'lifecycle_state', s.state,
  format(
    $$ insert into memory.facts (tenant_id, id, subject, predicate, content, search_vector, validity,
         metadata)
       values ('a', '00000000-0000-0000-0000-000000000001', 's', 'p', 'x', '', %L, %L) $$,
    s.validity, s.metadata
  ),
  format('update memory.facts as f set validity = %L, metadata = %L', s.validity, s.metadata)
from (
  values
  ('active', 'active', '{}'), ('fading', 'active', '{"status": "fading"}'),
  ('superseded', 'superseded', '{}'), ('expired', 'expired', '{}'), ('retracted', 'retracted', '{}')
) as s (state, validity, metadata)
union all
select
  'rule', 'lifecycle_state', s.state,
  format(
    $$ insert into memory.rules (tenant_id, id, content, search_vector, metadata)
       values ('a', '00000000-0000-0000-0000-000000000001', 'x', '', %L) $$,
    s.metadata
  ),
  format('update memory.rules as r set metadata = %L', s.metadata)
from (
  values ('active', '{}'), ('fading', '{"status": "fading"}'), ('retracted', '{"forgotten": true}')
) as s (state, metadata)
union all
select
  'rule', 'maturity', s.state,
  format(
    $$ insert into memory.rules (tenant_id, id, content, search_vector, maturity)
       values ('a', '00000000-0000-0000-0000-000000000001', 'x', '', %L) $$,
    s.state
  ),
  format('update memory.rules as r set maturity = %L', s.state)
from unnest('{candidate,established,proven,anti_pattern}'::text[]) as s (state)
union all
-- An entry is guarded if its policy is billy, which never changes.
select
  'entry', 'lifecycle_state', s.state,
  format(
    $$ insert into memory.entries (tenant_id, id, entry_id, title, content, search_vector, policy, user_id,
         retention, expired_at, deleted_at)
       values (
         'a', '00000000-0000-0000-0000-000000000001', 'mem-2026-01-01-001', 'x', 'x', '', %L, 'Ada', %L,
         %L, %L
       ) $$,
    case s.state when 'guarded' then 'billy' else 'meridian' end, s.retention, s.expired_at, s.deleted_at
  ),
  format(
    'update memory.entries as e set retention = %L, expired_at = %L, deleted_at = %L', s.retention,
    s.expired_at, s.deleted_at
  )
from (
  values
  ('active', 'active', null, null), ('guarded', 'active', null, null), ('aged', 'aged', null, null),
  ('archived', 'archived', null, null), ('expired', 'active', '2026-01-01Z', null),
  ('retracted', 'active', null, '2026-01-01Z')
) as s (state, retention, expired_at, deleted_at)
union all
select
  'entity', 'lifecycle_state', s.state,
  format(
    $$ insert into memory.entities (tenant_id, id, canonical_name, entity_type, metadata)
       values ('a', '00000000-0000-0000-0000-000000000001', 'x', 'other', %L) $$,
    s.metadata
  ),
  format('update memory.entities as e set metadata = %L', s.metadata)
from (
  values ('active', '{}'), ('merged', '{"merged_into": "00000000-0000-0000-0000-000000000002"}')
) as s (state, metadata)
union all
select
  'item', 'lifecycle_state', 'active',
  $$ insert into memory.store_items (tenant_id, id, namespace, key, value)
     values ('a', '00000000-0000-0000-0000-000000000001', '{x}', 'x', '{}') $$,
  null;

-- Takes a memory from one state to another and returns the events, or the code, message and hint of
-- the error. Everything is undone.
create function memory_test.outcome(
  memory_type text,
  aspect text,
  from_state text,
  to_state text
)
  returns text
  language plpgsql
as $$
declare
  v_outcome text;
  v_hint text;
begin
  begin
    -- As in an erasure, in which alone rows can be deleted.
    perform memory.write_event('a', 'erased', null, null, '{}');
    -- The first state is set up with all triggers disabled.
    if from_state <> '[*]' then
      set local session_replication_role = replica;
      execute (
        select s.insertion from memory_test.states as s
        where (s.memory_type, s.aspect, s.state)
          = (outcome.memory_type, outcome.aspect, outcome.from_state)
      );
      update memory.entries as e set policy = 'billy' where to_state = 'guarded';
      set local session_replication_role = origin;
    end if;
    execute case
      when to_state = '[*]' then
        format(
          'delete from memory.%I',
          case memory_type
            when 'entity' then 'entities' when 'entry' then 'entries' when 'item' then 'store_items' else memory_type || 's'
          end
        )
      else (
        select case from_state when '[*]' then s.insertion else s.change end
        from memory_test.states as s
        where (s.memory_type, s.aspect, s.state) = (outcome.memory_type, outcome.aspect, outcome.to_state)
      )
    end;
    -- The events of a guarded entry say more, which pgtap/guarded_entries.sql tests.
    select string_agg(
      concat_ws(
        ' ', e.event_type, e.memory_type,
        jsonb_build_object('from', e.payload ->> 'from', 'to', e.payload ->> 'to')
      ),
      ', ' order by e.seq
    )
    into v_outcome
    from memory.memory_events as e
    where e.memory_id = '00000000-0000-0000-0000-000000000001';
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then return v_outcome;
    when others then
      get stacked diagnostics v_hint = pg_exception_hint;
      return concat_ws(' | ', sqlstate, sqlerrm, v_hint);
  end;
end;
$$;

-- Every pair of states either is declared and writes its event or is refused.
select is(
  memory_test.outcome(p.memory_type, p.aspect, p.from_state, p.to_state),
  coalesce(
    -- What ended under the strict policy is not changed at all.
    case
      when (p.memory_type, p.from_state, p.to_state) = ('entry', 'expired', 'guarded')
      then 'PM008 | entry mem-2026-01-01-001 is guarded: it is never changed | '
        'Write another entry with memory.write_memory, and delete this one.'
    end,
    e.event_type || ' ' || p.memory_type || format(' {"to": "%s", "from": "%s"}', p.to_state, p.from_state),
    format(
      'PM003 | %s 00000000-0000-0000-0000-000000000001 cannot go from %s to %s | %s', p.memory_type,
      p.from_state, p.to_state,
      coalesce(
        format('From %s it can go to: ', p.from_state) || (
          select string_agg(n.to_state, ', ' order by n.to_state)
          from memory_test.edges as n
          where (n.memory_type, n.aspect, n.from_state) = (p.memory_type, p.aspect, p.from_state)
            and n.to_state <> '[*]'
        ) || '.',
        format('No transition leaves %s.', p.from_state)
      )
    )
  ),
  format(
    '%s (%s): %s to %s %s', p.memory_type, p.aspect, p.from_state, p.to_state,
    case when e.event_type is null then 'is refused' else 'writes ' || e.event_type end
  )
)
from (
  select f.memory_type, f.aspect, f.state as from_state, t.state as to_state
  from (
    select s.memory_type, s.aspect, s.state from memory_test.states as s
    union
    select s.memory_type, s.aspect, '[*]' from memory_test.states as s
  ) as f
  join (
    select s.memory_type, s.aspect, s.state from memory_test.states as s
    union
    select s.memory_type, s.aspect, '[*]' from memory_test.states as s
  ) as t
    on (t.memory_type, t.aspect) = (f.memory_type, f.aspect) and t.state <> f.state
  -- A rule is created and deleted in its lifecycle state, with any maturity.
  where (f.aspect = 'lifecycle_state' or '[*]' not in (f.state, t.state))
    -- Their states differ by nothing but the policy.
    and not (
      'guarded' in (f.state, t.state) and (f.state in ('active', 'aged', 'archived') or t.state in ('active', 'aged', 'archived'))
    )
) as p
left join memory_test.edges as e using (memory_type, aspect, from_state, to_state)
order by p.memory_type, p.aspect, p.from_state, p.to_state;

select is(
  memory_test.outcome('rule', 'maturity', '[*]', s.state),
  'rule_created rule {"to": "active", "from": "[*]"}',
  format('a rule can be imported as %s', s.state)
)
from unnest('{candidate,established,proven,anti_pattern}'::text[]) as s (state);

-- Declarations

select throws_ok(
  $$ insert into memory.transitions values ('fact', 'lifecycle_state', 'active', 'active', 'x') $$,
  '23514', null, 'a transition to the same state is refused'
);
select throws_ok(
  $$ insert into memory.transitions values ('link', 'lifecycle_state', 'active', 'expired', 'x') $$,
  '23514', null, 'a transition of an unknown memory type is refused'
);
select throws_ok(
  $$ insert into memory.transitions values ('fact', 'validity', 'active', 'expired', 'x') $$,
  '23514', null, 'a transition of an unknown aspect is refused'
);
delete from memory.transitions as t
where (t.memory_type, t.from_state, t.to_state) = ('fact', 'active', 'expired');
select is(
  memory_test.outcome('fact', 'lifecycle_state', 'active', 'expired'),
  'PM003 | fact 00000000-0000-0000-0000-000000000001 cannot go from active to expired'
  ' | From active it can go to: fading, retracted, superseded.',
  'a transition that an operator removes is refused'
);
insert into memory.transitions
values ('fact', 'lifecycle_state', 'retracted', 'superseded', 'fact_replaced');
select is(
  memory_test.outcome('fact', 'lifecycle_state', 'retracted', 'superseded'),
  'fact_replaced fact {"to": "superseded", "from": "retracted"}',
  'a newly declared transition works and writes the event of its declaration'
);
-- Legacy values of validity

insert into memory.facts (tenant_id, id, subject, predicate, content, validity, metadata, created_at)
values
('a', '00000000-0000-0000-0000-000000000011', 's', '1', 'c', 'forgotten', '{"note": 1}', '2026-01-01Z'),
('a', '00000000-0000-0000-0000-000000000012', 's', '2', 'c', 'fading', '{"note": 1}', '2026-01-01Z'),
('a', '00000000-0000-0000-0000-000000000013', 's', '3', 'c', 'active', '{"note": 1}', '2026-01-01Z'),
('a', '00000000-0000-0000-0000-000000000014', 's', '4', 'c', 'active', '{"note": 1}', '2026-01-01Z'),
('a', '00000000-0000-0000-0000-000000000015', 's', '5', 'c', 'superseded', '{"note": 1}', '2026-01-01Z');
update memory.facts as f set validity = 'forgotten' where f.predicate = '3';
update memory.facts as f set validity = 'fading' where f.predicate = '4';
select results_eq(
  $$ select f.predicate, f.validity, f.lifecycle_state, f.metadata, memory_test.events_of(f.id)
     from memory.facts as f where f.subject = 's' order by f.predicate $$,
  $$ values
     ('1', 'retracted', 'retracted', '{"note": 1}'::jsonb, '{fact_created}'::text[]),
     ('2', 'active', 'fading', '{"note": 1, "status": "fading"}', '{fact_created}'),
     ('3', 'retracted', 'retracted', '{"note": 1}', '{fact_created,fact_retracted}'),
     ('4', 'active', 'fading', '{"note": 1, "status": "fading"}', '{fact_created,fact_fading}'),
     ('5', 'superseded', 'superseded', '{"note": 1}', '{fact_created}') $$,
  'legacy validity is converted: forgotten to retracted, fading to active with a mark'
);
select throws_ok(
  $$ update memory.facts as f set validity = 'fading' where f.predicate = '5' $$, 'PM003', null,
  'a superseded fact cannot become active by fading'
);
update memory.facts as f set validity = 'forgotten' where f.predicate = '5';
select is(
  (select f.validity from memory.facts as f where f.predicate = '5'), 'retracted',
  'a superseded fact can be forgotten'
);
select throws_ok(
  $$ insert into memory.facts (tenant_id, subject, predicate, content, validity)
     values ('a', 's', 'p', 'c', 'unheard of') $$,
  '23514', null, 'an unknown validity is refused'
);

-- The two columns of consolidation

create function memory_test.consolidation(butler text)
  returns text
  language sql
  stable
  return (
    select concat_ws(' ', e.consolidated::text, e.consolidation_status, e.lifecycle_state)
    from memory.episodes as e where e.butler = consolidation.butler
  );
insert into memory.episodes (tenant_id, butler, content)
select 'a', b.butler, 'Met Ada' from unnest('{1,2,3,4,5}'::text[]) as b (butler);
select is(memory_test.consolidation('1'), 'false pending pending', 'a new episode is not consolidated');
update memory.episodes as e set consolidated = true where e.butler = '1';
select is(
  memory_test.consolidation('1'), 'true consolidated consolidated',
  'setting consolidated sets the consolidation status'
);
update memory.episodes as e set consolidation_status = 'consolidated' where e.butler = '2';
select is(
  memory_test.consolidation('2'), 'true consolidated consolidated',
  'setting the consolidation status sets consolidated'
);
update memory.episodes as e set consolidation_status = 'consolidated', consolidated = true
where e.butler = '3';
select is(
  memory_test.consolidation('3'), 'true consolidated consolidated',
  'setting both columns is one change'
);
update memory.episodes as e set consolidation_status = 'failed', consolidated = true where e.butler = '4';
select is(
  memory_test.consolidation('4'), 'false failed failed',
  'the consolidation status wins if the two columns contradict each other'
);
update memory.episodes as e set consolidated = false where e.butler = '3';
select is(
  memory_test.consolidation('3'), 'true consolidated consolidated',
  'unsetting consolidated does not undo a consolidation'
);
update memory.episodes as e set consolidated = true where e.butler = '4';
select is(
  memory_test.consolidation('4'), 'true consolidated consolidated',
  'setting consolidated consolidates a failed episode'
);
update memory.episodes as e set consolidation_status = 'dead_letter' where e.butler = '5';
select throws_ok(
  $$ update memory.episodes as e set consolidated = true where e.butler = '5' $$,
  'PM003', null, 'a dead letter cannot be consolidated through either column'
);
select throws_ok(
  $$ insert into memory.episodes (tenant_id, id, butler, content, consolidated)
     values ('a', '00000000-0000-0000-0000-000000000009', 'home', 'x', true) $$,
  'PM003', 'episode 00000000-0000-0000-0000-000000000009 cannot go from [*] to consolidated',
  'an episode cannot be stored as consolidated through either column'
);
select throws_ok(
  $$ insert into memory.episodes (tenant_id, id, butler, content, consolidated, consolidation_status)
     values ('a', '00000000-0000-0000-0000-000000000009', 'home', 'x', true, 'failed') $$,
  'PM003', 'episode 00000000-0000-0000-0000-000000000009 cannot go from [*] to failed',
  'the consolidation status wins over a contradicting insert'
);

-- Columns that never change

insert into memory.rules (tenant_id, id, content, created_at)
values ('a', '00000000-0000-0000-0000-000000000021', 'Offer tea', '2026-01-01Z');
select throws_ok(
  format('update memory.episodes as e set %s where e.tenant_id = ''a''', c.change), 'PM006', null,
  format('an episode is append-only: changing %s is refused', split_part(c.change, ' = ', 1))
)
from unnest(array[
  $$tenant_id = 'b'$$, $$id = gen_random_uuid()$$, $$butler = 'work'$$, $$session_id = gen_random_uuid()$$,
  $$content = 'x'$$, $$created_at = '2025-01-01Z'$$
]) with ordinality as c (change, position)
order by c.position;
select throws_ok(
  format('update memory.facts as f set %s where f.predicate = ''4''', c.change), 'PM006', null,
  format('a fact cannot be edited: changing %s is refused', split_part(c.change, ' = ', 1))
)
from unnest(array[
  $$tenant_id = 'b'$$, $$id = gen_random_uuid()$$, $$subject = 'x'$$, $$predicate = 'x'$$, $$content = 'x'$$,
  $$created_at = '2025-01-01Z'$$
]) with ordinality as c (change, position)
order by c.position;
select throws_ok(
  format('update memory.rules as r set %s where r.tenant_id = ''a''', c.change), 'PM006', null,
  format('a rule keeps its identity: changing %s is refused', split_part(c.change, ' = ', 1))
)
from unnest(array[
  $$tenant_id = 'b'$$, $$id = gen_random_uuid()$$, $$created_at = '2025-01-01Z'$$
]) with ordinality as c (change, position)
order by c.position;
select lives_ok(
  $$ update memory.episodes as e set content = e.content, butler = e.butler, session_id = e.session_id;
     update memory.facts as f set content = f.content, subject = f.subject, created_at = f.created_at;
     update memory.rules as r set created_at = r.created_at, id = r.id $$,
  'an update to the same values is accepted'
);

-- Imports

select results_eq(
  $$ select f.last_confirmed_at from memory.facts as f where f.predicate = '1'
     union all
     select r.last_confirmed_at from memory.rules as r where r.tenant_id = 'a' $$,
  $$ values ('2026-01-01Z'::timestamptz), ('2026-01-01Z') $$,
  'an imported fact or rule counts as confirmed at its creation'
);
insert into memory.facts (tenant_id, subject, predicate, content, created_at, last_confirmed_at)
values ('a', 'imported', 'p', 'c', '2026-01-01Z', '2026-02-01Z');
insert into memory.rules (tenant_id, content, created_at, last_confirmed_at)
values ('a', 'Imported', '2026-01-01Z', '2026-02-01Z');
select results_eq(
  $$ select f.last_confirmed_at from memory.facts as f where f.subject = 'imported'
     union all
     select r.last_confirmed_at from memory.rules as r where r.content = 'Imported' $$,
  $$ values ('2026-02-01Z'::timestamptz), ('2026-02-01Z') $$,
  'an imported fact or rule keeps its own time of confirmation'
);

-- Search vectors

insert into memory.episodes (tenant_id, id, butler, content, search_vector, created_at)
values ('a', '00000000-0000-0000-0000-000000000031', 'vectors', 'The cats sleep', 'forged', '2023-05-08Z');
insert into memory.facts (tenant_id, id, subject, predicate, content, search_vector)
values ('a', '00000000-0000-0000-0000-000000000032', 'cats', 'like', 'the sofas', 'forged');
insert into memory.rules (tenant_id, id, content, search_vector)
values ('a', '00000000-0000-0000-0000-000000000033', 'Feed the cats', 'forged');
create view memory_test.vectors as
select 'episode' as type, e.search_vector from memory.episodes as e
where e.id = '00000000-0000-0000-0000-000000000031'
union all
select 'fact', f.search_vector from memory.facts as f where f.id = '00000000-0000-0000-0000-000000000032'
union all
select 'rule', r.search_vector from memory.rules as r where r.id = '00000000-0000-0000-0000-000000000033';
create function memory_test.expected_vectors()
  returns table (type text, search_vector tsvector)
  language sql
  begin atomic
    values
    ('episode', '''2023'':6 ''8'':4 ''cat'':2 ''may'':5 ''sleep'':3'::tsvector), ('fact', '''cat'':1 ''like'':2 ''sofa'':4'),
    ('rule', '''cat'':3 ''feed'':1');
  end;
select results_eq(
  $$ select * from memory_test.vectors order by 1 $$, $$ select * from memory_test.expected_vectors() $$,
  'the search vector of a new memory comes from its text, not from the insert'
);
update memory.episodes as e set search_vector = 'forged' where e.butler = 'vectors';
update memory.facts as f set search_vector = 'forged' where f.subject = 'cats';
update memory.rules as r set search_vector = 'forged' where r.id = '00000000-0000-0000-0000-000000000033';
select results_eq(
  $$ select * from memory_test.vectors order by 1 $$, $$ select * from memory_test.expected_vectors() $$,
  'an update cannot forge the search vector'
);
update memory.episodes as e set search_vector = null where e.butler = 'vectors';
select results_eq(
  $$ select * from memory_test.vectors order by 1 $$, $$ select * from memory_test.expected_vectors() $$,
  'an update cannot empty the search vector'
);
update memory.rules as r set content = 'Feed the dogs' where r.id = '00000000-0000-0000-0000-000000000033';
select is(
  (select v.search_vector from memory_test.vectors as v where v.type = 'rule'), '''dog'':3 ''feed'':1',
  'the search vector of a rule follows its text'
);
update memory.episodes as e set text_search_config = 'simple' where e.butler = 'vectors';
update memory.facts as f set text_search_config = 'simple' where f.subject = 'cats';
update memory.rules as r set text_search_config = 'simple'
where r.id = '00000000-0000-0000-0000-000000000033';
select results_eq(
  $$ select * from memory_test.vectors order by 1 $$,
  $$ values
     ('episode', '''2023'':6 ''8'':4 ''cats'':2 ''may'':5 ''sleep'':3 ''the'':1'::tsvector),
     ('fact', '''cats'':1 ''like'':2 ''sofas'':4 ''the'':3'),
     ('rule', '''dogs'':3 ''feed'':1 ''the'':2') $$,
  'the search vector follows the text search configuration'
);
select throws_ok(
  $$ update memory.facts as f set text_search_config = 'klingon' where f.subject = 'cats' $$, '42704', null,
  'an unknown text search configuration is refused'
);

select * from finish();
rollback;
