begin;
\ir fixtures.sql
select plan(201);

-- What a statement writes to the audit stream, or the code of its error. The statement is undone,
-- so each test starts from the same rows.
create function memory_test.events_by(statement text)
  returns text[]
  language plpgsql
as $$
declare
  v_last bigint := coalesce((select max(e.seq) from memory.memory_events as e), 0);
  v_events text[];
begin
  begin
    execute statement;
    v_events := array(
      select e.event_type || ' ' || e.payload
      from memory.memory_events as e
      where e.seq > v_last
      order by e.seq
    );
    raise exception using errcode = 'UNDO0';
  exception
    when sqlstate 'UNDO0' then return v_events;
    when others then return array[sqlstate];
  end;
end;
$$;

insert into memory.embedding_versions (tenant_id, id, model, version, status)
values ('a', '00000000-0000-0000-0000-000000000001', 'model', '1', 'active');
insert into memory.episodes (tenant_id, id, butler, content, created_at, expires_at)
values ('a', '00000000-0000-0000-0000-000000000010', 'home', 'Met Ada', '2026-01-01Z', '2026-01-08Z');
insert into memory.entities (tenant_id, id, canonical_name, entity_type)
values ('a', '00000000-0000-0000-0000-000000000020', 'Ada', 'person');
insert into memory.facts (tenant_id, id, subject, predicate, content, metadata, created_at)
values
('a', '00000000-0000-0000-0000-000000000030', 'Ada', 'likes', 'tea', '{"note": 1}', '2026-01-01Z'),
('a', '00000000-0000-0000-0000-000000000031', 'Ada', 'dislikes', 'milk', '{}', '2026-01-01Z');
insert into memory.rules (tenant_id, id, content, metadata, created_at)
values ('a', '00000000-0000-0000-0000-000000000040', 'Offer tea', '{"note": 1}', '2026-01-01Z');
insert into memory.rule_applications (tenant_id, id, rule_id, outcome)
values (
  'a', '00000000-0000-0000-0000-000000000050', '00000000-0000-0000-0000-000000000040', 'neutral'
);
insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
values (
  'a', 'fact', '00000000-0000-0000-0000-000000000030', 'episode', '00000000-0000-0000-0000-000000000010',
  'derived_from'
);
insert into memory.settings select (memory.default_settings('a')).*;

-- Rows that are created

select results_eq(
  $$ select e.tenant_id, e.event_type, e.memory_type, e.memory_id::text, e.payload
     from memory.memory_events as e
     where e.tenant_id = 'a' and e.event_type <> 'settings_created'
     order by e.seq $$,
  $$ values
     (
       'a', 'embedding_version_created', null, null,
       '{"old": {}, "new": {"id": "00000000-0000-0000-0000-000000000001", "model": "model", "version": "1",
         "rendering": "previous_dated", "dimensions": 384, "similarity_floor": 0.05,
         "similarity_ceiling": 0.75, "status": "active"}}'::jsonb
     ),
     ('a', 'episode_created', 'episode', '00000000-0000-0000-0000-000000000010',
       '{"from": "[*]", "to": "pending"}'),
     ('a', 'entity_created', 'entity', '00000000-0000-0000-0000-000000000020',
       '{"from": "[*]", "to": "active"}'),
     ('a', 'fact_created', 'fact', '00000000-0000-0000-0000-000000000030',
       '{"from": "[*]", "to": "active"}'),
     ('a', 'fact_created', 'fact', '00000000-0000-0000-0000-000000000031',
       '{"from": "[*]", "to": "active"}'),
     ('a', 'rule_created', 'rule', '00000000-0000-0000-0000-000000000040',
       '{"from": "[*]", "to": "active"}'),
     ('a', 'rule_neutral', 'rule', '00000000-0000-0000-0000-000000000040',
       '{"rule_application_id": "00000000-0000-0000-0000-000000000050"}'),
     ('a', 'link_created', 'fact', '00000000-0000-0000-0000-000000000030',
       '{"source_type": "fact", "source_id": "00000000-0000-0000-0000-000000000030",
         "target_type": "episode", "target_id": "00000000-0000-0000-0000-000000000010",
         "relation": "derived_from"}'::jsonb),
     ('a', 'fact_updated', 'fact', '00000000-0000-0000-0000-000000000030', '{"changed": ["trust"]}') $$,
  'each new row of each table writes one event, which names its memory'
);

-- Several rows of one statement

select is(
  memory_test.events_by($$
    insert into memory.facts (tenant_id, id, subject, predicate, content, validity)
    values
    ('a', '00000000-0000-0000-0000-000000000034', 's', 'p4', 'x', 'superseded'),
    ('a', '00000000-0000-0000-0000-000000000033', 's', 'p3', 'x', 'retracted'),
    ('a', '00000000-0000-0000-0000-000000000035', 's', 'p5', 'x', 'active')
  $$),
  array[
    'fact_created {"to": "retracted", "from": "[*]"}', 'fact_created {"to": "superseded", "from": "[*]"}',
    'fact_created {"to": "active", "from": "[*]"}'
  ],
  'rows created in one statement write their events in the order of their ids'
);
select is(
  memory_test.events_by($$
    insert into memory.facts (tenant_id, id, subject, predicate, content, validity, supersedes_id)
    values
    ('a', '00000000-0000-0000-0000-000000000033', 's', 'p', 'x', 'superseded', null),
    ('a', '00000000-0000-0000-0000-000000000034', 's', 'q', 'x', 'retracted', null),
    ('a', '00000000-0000-0000-0000-000000000035', 's', 'p', 'x', 'active',
      '00000000-0000-0000-0000-000000000033')
  $$),
  array[
    'fact_created {"to": "active", "from": "[*]"}', 'fact_created {"to": "retracted", "from": "[*]"}',
    'fact_superseded {"to": "superseded", "from": "active"}', 'fact_created {"to": "active", "from": "[*]"}'
  ],
  'a fact created in one statement with its successor was active before it was superseded'
);
select is(
  memory_test.events_by($$
    insert into memory.rules (tenant_id, id, content)
    values
    ('a', '00000000-0000-0000-0000-000000000042', 'x'), ('a', '00000000-0000-0000-0000-000000000041', 'y')
  $$ || format(
    $$; insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
      select 'a', 'rule', s.id, 'fact', t.id, s.relation
      from (values
        ('00000000-0000-0000-0000-000000000042'::uuid, 'supports'), ('00000000-0000-0000-0000-000000000041', 'related_to')
      ) as s (id, relation)
      cross join unnest(%L::uuid[]) as t (id) $$,
    '{00000000-0000-0000-0000-000000000031,00000000-0000-0000-0000-000000000030}'
  )),
  array['rule_created {"to": "active", "from": "[*]"}', 'rule_created {"to": "active", "from": "[*]"}']
  || array(
    select 'link_created ' || jsonb_build_object(
      'source_type', 'rule', 'source_id', '00000000-0000-0000-0000-0000000000' || s.source,
      'target_type', 'fact', 'target_id', '00000000-0000-0000-0000-0000000000' || s.target,
      'relation', s.relation
    )::text
    from (values
      (1, 41, 30, 'related_to'), (2, 41, 31, 'related_to'), (3, 42, 30, 'supports'), (4, 42, 31, 'supports')
    ) as s (number, source, target, relation)
    order by s.number
  ),
  'links created in one statement write their events in the order of their sources'
);
select is(
  memory_test.events_by($$ insert into memory.facts (tenant_id, subject, predicate, content) select 'a', 's', 'p', 'x' where false $$),
  '{}', 'a statement that creates nothing writes no event'
);

-- Every column an operator can change, of every table that holds memories: the value to set and the
-- expected events. A code instead of an event means that the change is refused.

create table memory_test.changes (
  number integer generated always as identity,
  table_name text,
  change text,
  events text[]
);

insert into memory_test.changes (table_name, change, events)
values
('episodes', $$tenant_id = 'b'$$, '{PM006}'),
('episodes', $$id = gen_random_uuid()$$, '{PM006}'),
('episodes', $$butler = 'work'$$, '{PM006}'),
('episodes', $$session_id = gen_random_uuid()$$, '{PM006}'),
('episodes', $$content = 'x'$$, '{PM006}'),
('episodes', $$created_at = '2026-01-02Z'$$, '{PM006}'),
('episodes', $$embedding = memory_test.axis(1),
  embedding_version_id = '00000000-0000-0000-0000-000000000001'$$, '{}'),
('episodes', $$search_vector = 'forged'$$, '{}'),
('episodes', $$text_search_config = 'simple'$$, '{}'),
('episodes', $$index_rendering = 'content'$$, '{}'),
('episodes', $$importance = 9$$, array['episode_updated {"changed": ["importance"]}']),
('episodes', $$reference_count = reference_count + 1$$, '{}'),
('episodes', $$last_referenced_at = '2026-01-02Z'$$, '{}'),
('episodes', $$consolidated = true$$,
  array['episode_consolidated {"to": "consolidated", "from": "pending"}']),
('episodes', $$consolidation_status = 'failed'$$,
  array['episode_failed {"to": "failed", "from": "pending"}']),
('episodes', $$consolidation_attempts = 1$$,
  array['episode_updated {"changed": ["consolidation_attempts", "retry_count"]}']),
('episodes', $$last_consolidation_error = 'timeout'$$,
  array['episode_updated {"changed": ["last_consolidation_error", "last_error"]}']),
('episodes', $$next_consolidation_retry_at = '2026-01-02Z'$$,
  array['episode_updated {"changed": ["next_consolidation_retry_at"]}']),
('episodes', $$consolidation_batch_limit = 2$$,
  array['episode_updated {"changed": ["consolidation_batch_limit"]}']),
('episodes', $$expires_at = expires_at - interval '1 day'$$, array['episode_expired {}']),
('episodes', $$expires_at = expires_at + interval '1 day'$$,
  array['episode_updated {"changed": ["expires_at"]}']),
('episodes', $$expires_at = null$$, array['episode_updated {"changed": ["expires_at"]}']),
('episodes', $$metadata = '{"a": 1}'$$, array['episode_updated {"changed": ["metadata"]}']),
('episodes', $$idempotency_key = 'k'$$, array['episode_updated {"changed": ["idempotency_key"]}']),

('episodes', $$source_class = 'user'$$, '{PM006}'),
('episodes', $$updated_at = '2026-01-02Z'$$, '{}'),
('facts', $$tenant_id = 'b'$$, '{PM006}'),
('facts', $$id = gen_random_uuid()$$, '{PM006}'),
('facts', $$subject = 'x'$$, '{PM006}'),
('facts', $$predicate = 'x'$$, '{PM006}'),
('facts', $$content = 'x'$$, '{PM006}'),
('facts', $$created_at = '2026-01-02Z'$$, '{PM006}'),
('facts', $$embedding = memory_test.axis(1),
  embedding_version_id = '00000000-0000-0000-0000-000000000001'$$, '{}'),
('facts', $$search_vector = 'forged'$$, '{}'),
('facts', $$text_search_config = 'simple'$$, '{}'),
('facts', $$importance = 9$$, array['fact_updated {"changed": ["importance"]}']),
('facts', $$confidence = 0.5$$, array['fact_updated {"changed": ["confidence"]}']),
('facts', $$decay_rate = 0, permanence = 'permanent'$$,
  array['fact_updated {"changed": ["decay_rate", "permanence"]}']),
('facts', $$source_butler = 'home'$$, array['fact_updated {"changed": ["source_butler"]}']),
('facts', $$source_episode_id = '00000000-0000-0000-0000-000000000010'$$,
  array['fact_updated {"changed": ["source_episode_id"]}']),
('facts', $$supersedes_id = '00000000-0000-0000-0000-000000000031'$$,
  array['fact_updated {"changed": ["supersedes_id"]}']),
('facts', $$entity_id = '00000000-0000-0000-0000-000000000020'$$,
  array['fact_updated {"changed": ["entity_id"]}']),
('facts', $$object_entity_id = '00000000-0000-0000-0000-000000000020'$$,
  array['fact_updated {"changed": ["object_entity_id"]}']),
('facts', $$validity = 'retracted'$$,
  array['fact_retracted {"to": "retracted", "from": "active"}']),
('facts', $$scope = 'work'$$, array['fact_updated {"changed": ["scope"]}']),
('facts', $$reference_count = reference_count + 1$$, '{}'),
('facts', $$last_referenced_at = '2026-01-02Z'$$, '{}'),
('facts', $$last_confirmed_at = '2026-01-02Z'$$, array['fact_confirmed {}']),
('facts', $$observed_at = '2026-01-02Z'$$, array['fact_updated {"changed": ["observed_at"]}']),
('facts', $$trust = 'tool'$$, array['fact_updated {"changed": ["trust"]}']),
('facts', $$updated_at = '2026-01-02Z'$$, '{}'),
('facts', $$valid_from = '2026-01-02Z'$$, array['fact_updated {"changed": ["valid_from"]}']),
('facts', $$planned_for = valid_from, decay_rate = 0$$, array['fact_updated {"changed": ["decay_rate", "planned_for"]}']),
('facts', $$valid_to = '2036-01-02Z'$$, array['fact_updated {"changed": ["valid_to"]}']),
('facts', $$tags = '["a"]'$$, array['fact_updated {"changed": ["tags"]}']),
('facts', $$metadata = metadata || '{"status": "fading"}'$$,
  array['fact_fading {"to": "fading", "from": "active"}']),
('facts', $$metadata = '{}'$$, array['fact_updated {"changed": ["metadata"]}']),
('facts', $$idempotency_key = 'k'$$, array['fact_updated {"changed": ["idempotency_key"]}']),

('rules', $$tenant_id = 'b'$$, '{PM006}'),
('rules', $$id = gen_random_uuid()$$, '{PM006}'),
('rules', $$created_at = '2026-01-02Z'$$, '{PM006}'),
('rules', $$content = 'x'$$, array['rule_updated {"changed": ["content"]}']),
('rules', $$embedding = memory_test.axis(1),
  embedding_version_id = '00000000-0000-0000-0000-000000000001'$$, '{}'),
('rules', $$search_vector = 'forged'$$, '{}'),
('rules', $$text_search_config = 'simple'$$, '{}'),
('rules', $$scope = 'work'$$, array['rule_updated {"changed": ["scope"]}']),
('rules', $$maturity = 'established'$$,
  array['rule_promoted {"to": "established", "from": "candidate"}']),
('rules', $$importance = 9$$, array['rule_updated {"changed": ["importance"]}']),
('rules', $$confidence = 1$$, array['rule_updated {"changed": ["confidence"]}']),
('rules', $$decay_rate = 1$$, array['rule_updated {"changed": ["decay_rate"]}']),
('rules', $$permanence = 'stable'$$, array['rule_updated {"changed": ["permanence"]}']),
('rules', $$effectiveness_score = 1$$, array['rule_updated {"changed": ["effectiveness_score"]}']),
('rules', $$applied_count = 7$$, array['rule_updated {"changed": ["applied_count"]}']),
('rules', $$applied_count = 2, success_count = 1, harmful_count = 1$$,
  array['rule_updated {"changed": ["applied_count", "harmful_count", "success_count"]}']),
('rules', $$source_episode_id = '00000000-0000-0000-0000-000000000010'$$,
  array['rule_updated {"changed": ["source_episode_id"]}']),
('rules', $$source_butler = 'home'$$, array['rule_updated {"changed": ["source_butler"]}']),
('rules', $$reference_count = reference_count + 1$$, '{}'),
('rules', $$last_referenced_at = '2026-01-02Z'$$, '{}'),
('rules', $$last_applied_at = '2026-01-02Z'$$, array['rule_updated {"changed": ["last_applied_at"]}']),
('rules', $$last_evaluated_at = '2026-01-02Z'$$, array['rule_updated {"changed": ["last_evaluated_at"]}']),
('rules', $$last_confirmed_at = '2026-01-02Z'$$, array['rule_confirmed {}']),
('rules', $$observed_at = '2026-01-02Z'$$, array['rule_updated {"changed": ["observed_at"]}']),
('rules', $$trust = 'tool'$$, array['rule_updated {"changed": ["trust"]}']),
('rules', $$updated_at = '2026-01-02Z'$$, '{}'),
('rules', $$tags = '["a"]'$$, array['rule_updated {"changed": ["tags"]}']),
('rules', $$metadata = metadata || '{"status": "fading"}'$$,
  array['rule_fading {"to": "fading", "from": "active"}']),
('rules', $$metadata = metadata || '{"forgotten": true}'$$,
  array['rule_retracted {"to": "retracted", "from": "active"}']),
('rules', $$metadata = metadata || '{"needs_inversion": true}'$$,
  array['rule_updated {"changed": ["metadata"]}']),
('rules', $$idempotency_key = 'k'$$, array['rule_updated {"changed": ["idempotency_key"]}']),

('entities', $$canonical_name = 'x'$$, array['entity_updated {"changed": ["canonical_name"]}']),
('entities', $$entity_type = 'other'$$, array['entity_updated {"changed": ["entity_type"]}']),
('entities', $$aliases = '{A}'$$, array['entity_updated {"changed": ["aliases"]}']),
('entities', $$metadata = '{"a": 1}'$$, array['entity_updated {"changed": ["metadata"]}']),
('entities', $$metadata = '{"merged_into": "x"}'$$,
  array['entity_merge {"to": "merged", "from": "active"}']);

select is(
  memory_test.events_by(format(
    'update memory.%I set %s where id = %L', c.table_name, c.change,
    case c.table_name
      when 'episodes' then '00000000-0000-0000-0000-000000000010'
      when 'entities' then '00000000-0000-0000-0000-000000000020'
      when 'facts' then '00000000-0000-0000-0000-000000000030'
      when 'rules' then '00000000-0000-0000-0000-000000000040'
    end
  )),
  c.events,
  format(
    'an update of %s that sets %s %s', c.table_name, split_part(c.change, E'\n', 1),
    case
      when c.events = '{}' then 'writes no event'
      when c.events = '{PM006}' then 'is refused'
      else 'writes its event'
    end
  )
)
from memory_test.changes as c
order by c.number;
select is_empty(
  $$ select a.attrelid::regclass, a.attname
     from pg_attribute as a
     where a.attrelid in ('memory.episodes'::regclass, 'memory.facts'::regclass, 'memory.rules'::regclass)
       and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
       and not exists (
         select from memory_test.changes as c
         where 'memory.' || c.table_name = a.attrelid::regclass::text
           and c.change ~ format('\m%s = ', a.attname)
       ) $$,
  'the updates above cover every column of episodes, facts and rules'
);

-- Other updates

select is(
  memory_test.events_by($$
    update memory.episodes as e set importance = 9, reference_count = 9, last_referenced_at = '2026-01-02Z'
    where e.tenant_id = 'a'
  $$),
  array['episode_updated {"changed": ["importance"]}'],
  'an event names the columns that matter, not the counters that changed with them'
);
select is(
  memory_test.events_by($$
    update memory.episodes as e set importance = 9, expires_at = '2026-01-02Z' where e.tenant_id = 'a'
  $$),
  array['episode_expired {}', 'episode_updated {"changed": ["expires_at", "importance"]}'],
  'an update that also expires an episode writes both events'
);
select is(
  memory_test.events_by($$
    update memory.episodes as e set expires_at = null where e.tenant_id = 'a';
    update memory.episodes as e set expires_at = '2026-01-02Z' where e.tenant_id = 'a'
  $$),
  array['episode_updated {"changed": ["expires_at"]}', 'episode_expired {}'],
  'setting an expiry in the past expires an episode that had none'
);
select is(
  memory_test.events_by($$
    update memory.episodes as e
    set consolidation_status = 'failed', consolidation_attempts = 1, last_consolidation_error = 'timeout'
    where e.tenant_id = 'a'
  $$),
  array[
    'episode_updated {"changed": ["consolidation_attempts", "consolidation_status", '
    || '"last_consolidation_error", "last_error", "lifecycle_state", "retry_count"]}',
    'episode_failed {"to": "failed", "from": "pending"}'
  ],
  'a failed consolidation writes its transition and the columns it changed'
);
select is(
  memory_test.events_by($$
    update memory.episodes as e set importance = e.importance, metadata = e.metadata,
      expires_at = e.expires_at, consolidation_status = e.consolidation_status;
    update memory.facts as f set importance = f.importance, metadata = f.metadata, validity = f.validity,
      last_confirmed_at = f.last_confirmed_at, tags = f.tags;
    update memory.rules as r set importance = r.importance, metadata = r.metadata, maturity = r.maturity,
      last_confirmed_at = r.last_confirmed_at, applied_count = r.applied_count, content = r.content;
    update memory.entities as e set metadata = e.metadata, canonical_name = e.canonical_name
  $$),
  '{}',
  'an update that changes nothing writes no event'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set validity = 'superseded', metadata = '{"note": 2}'
    where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array[
    'fact_updated {"changed": ["lifecycle_state", "metadata", "valid_to", "validity"]}',
    'fact_superseded {"to": "superseded", "from": "active"}'
  ],
  'a transition does not hide another change of the same update'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set metadata = f.metadata || '{"status": "fading", "note": 2}'
    where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array[
    'fact_updated {"changed": ["lifecycle_state", "metadata"]}',
    'fact_fading {"to": "fading", "from": "active"}'
  ],
  'a fading mark does not hide another change of the metadata'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set metadata = f.metadata || '{"status": "unheard of"}'
    where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array['fact_updated {"changed": ["metadata"]}'],
  'an unknown status in the metadata of a fact writes an event'
);
select is(
  memory_test.events_by($$
    update memory.rules as r set metadata = r.metadata || '{"status": "unheard of"}' where r.tenant_id = 'a'
  $$),
  array['rule_updated {"changed": ["metadata"]}'],
  'an unknown status in the metadata of a rule writes an event'
);
select is(
  memory_test.events_by($$
    update memory.rules as r set metadata = r.metadata || '{"forgotten": "yes"}' where r.tenant_id = 'a'
  $$),
  array['rule_updated {"changed": ["metadata"]}'],
  'a mark in the metadata that does not forget a rule writes an event'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set source_episode_id = '00000000-0000-0000-0000-000000000010'
    where f.content = 'tea' and f.tenant_id = 'a';
    update memory.facts as f set source_episode_id = null where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array[
    'fact_updated {"changed": ["source_episode_id"]}', 'fact_updated {"changed": ["source_episode_id"]}'
  ],
  'clearing the source episode of a fact writes an event'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set supersedes_id = '00000000-0000-0000-0000-000000000031'
    where f.content = 'tea' and f.tenant_id = 'a';
    update memory.facts as f set supersedes_id = null where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array['fact_updated {"changed": ["supersedes_id"]}', 'fact_updated {"changed": ["supersedes_id"]}'],
  'clearing the predecessor of a fact writes an event'
);
select is(
  memory_test.events_by($$
    update memory.rules as r set source_episode_id = '00000000-0000-0000-0000-000000000010'
    where r.tenant_id = 'a';
    update memory.rules as r set source_episode_id = null where r.tenant_id = 'a'
  $$),
  array[
    'rule_updated {"changed": ["source_episode_id"]}', 'rule_updated {"changed": ["source_episode_id"]}'
  ],
  'clearing the source episode of a rule writes an event'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set entity_id = '00000000-0000-0000-0000-000000000020'
    where f.content = 'tea' and f.tenant_id = 'a';
    update memory.facts as f set entity_id = null where f.content = 'tea' and f.tenant_id = 'a'
  $$),
  array['fact_updated {"changed": ["entity_id"]}', 'fact_updated {"changed": ["entity_id"]}'],
  'detaching a fact from its entity writes an event'
);
select is(
  memory_test.events_by($$
    update memory.entities as e set metadata = '{"merged_into": "x"}' where e.tenant_id = 'a';
    update memory.entities as e set metadata = '{"merged_into": "y"}' where e.tenant_id = 'a'
  $$),
  array[
    'entity_merge {"to": "merged", "from": "active"}', 'entity_updated {"changed": ["metadata"]}'
  ],
  'pointing a merged entity elsewhere writes an event'
);
select isnt(
  memory_test.events_by($$ update memory.entities as e set id = gen_random_uuid() where e.tenant_id = 'a' $$),
  '{}', 'changing the id of an entity is refused or writes an event'
);
select isnt(
  memory_test.events_by($$ update memory.entities as e set tenant_id = 'b' where e.tenant_id = 'a' $$),
  '{}', 'moving an entity to another tenant is refused or writes an event'
);
select isnt(
  memory_test.events_by($$
    update memory.entities as e set created_at = '2026-01-01Z' where e.tenant_id = 'a'
  $$),
  '{}', 'changing the creation time of an entity is refused or writes an event'
);

-- Deletions

select is(
  memory_test.events_by($$ delete from memory.episodes as e where e.tenant_id = 'a' $$),
  array['episode_deleted {"to": "[*]", "from": "pending"}'],
  'deleting an episode writes its event'
);
select is(
  memory_test.events_by($$
    update memory.facts as f set source_episode_id = '00000000-0000-0000-0000-000000000010'
    where f.tenant_id = 'a' and f.content = 'tea';
    update memory.rules as r set source_episode_id = '00000000-0000-0000-0000-000000000010'
    where r.tenant_id = 'a';
    delete from memory.episodes as e where e.tenant_id = 'a'
  $$),
  array[
    'fact_updated {"changed": ["source_episode_id"]}', 'rule_updated {"changed": ["source_episode_id"]}',
    'episode_deleted {"to": "[*]", "from": "pending"}'
  ],
  'deleting an episode writes no event for the facts and rules derived from it'
);
select is(
  memory_test.events_by($$ delete from memory.facts as f where f.tenant_id = 'a' $$), '{PM006}',
  'a single fact cannot be deleted'
);
select is(
  memory_test.events_by($$
    insert into memory.rules (tenant_id, id, content)
    values ('a', '00000000-0000-0000-0000-000000000041', 'x');
    delete from memory.rules as r where r.id = '00000000-0000-0000-0000-000000000041'
  $$),
  '{PM006}', 'a single rule cannot be deleted'
);
select is(
  memory_test.events_by($$ delete from memory.entities as e where e.tenant_id = 'a' $$), '{PM006}',
  'a single entity cannot be deleted'
);

-- Only an erasure deletes what is kept, whatever is set and wherever it is called from.
set local memory.erasing = 'on';
create function memory_test.delete_from_within()
  returns trigger
  language plpgsql
as $$
begin
  execute tg_argv[0];
  return null;
end;
$$;
select is(
  memory_test.events_by(format(
    $$ update memory.facts as f set importance = 9 where f.tenant_id = 'a';
       create temporary table written (id integer);
       create trigger delete_from_within after insert on written
       for each statement execute function memory_test.delete_from_within(%L);
       insert into written values (1) $$,
    d.deletion
  )),
  '{PM006}', d.deletion || ' is refused from within a trigger too'
)
from (
  values
  ('delete from memory.facts'), ('delete from memory.memory_history'), ('delete from memory.rule_applications'),
  ('update memory.memory_history set image = null'), ('update memory.rule_applications set outcome = null')
) as d (deletion);

-- Rule applications

select is(
  memory_test.events_by(format(
    $$ insert into memory.rule_applications (tenant_id, id, rule_id, outcome) values (
         'a', '00000000-0000-0000-0000-000000000051', '00000000-0000-0000-0000-000000000040', %L
       ) $$,
    o.outcome
  )),
  array[format(
    'rule_%s {"rule_application_id": "00000000-0000-0000-0000-000000000051"}', o.outcome
  )],
  format('a rule application with outcome %s writes its event', o.outcome)
)
from unnest('{helpful,harmful,neutral,skipped}'::text[]) with ordinality as o (outcome, position)
order by o.position;
select throws_ok(
  $$ update memory.rule_applications as a set outcome = 'helpful' where a.tenant_id = 'a' $$,
  'PM006', 'rule_applications is append-only: UPDATE refused',
  'the outcome of a rule application cannot be changed'
);
select throws_ok(
  $$ delete from memory.rule_applications as a where a.tenant_id = 'a' $$,
  'PM006', 'rule_applications is append-only: DELETE refused',
  'a rule application cannot be deleted'
);

-- Links

select is(
  memory_test.events_by($$
    insert into memory.memory_links (tenant_id, source_type, source_id, target_type, target_id, relation)
    values (
      'a', 'rule', '00000000-0000-0000-0000-000000000040', 'fact', '00000000-0000-0000-0000-000000000030',
      'supports'
    )
  $$),
  array[
    'link_created ' || jsonb_build_object(
      'source_type', 'rule', 'source_id', '00000000-0000-0000-0000-000000000040',
      'target_type', 'fact', 'target_id', '00000000-0000-0000-0000-000000000030',
      'relation', 'supports'
    )::text
  ],
  'a new link writes its event'
);
select is(
  memory_test.events_by($$
    update memory.memory_links as l set relation = 'related_to' where l.tenant_id = 'a'
  $$),
  array[
    'link_updated ' || jsonb_build_object(
      'source_type', 'fact', 'source_id', '00000000-0000-0000-0000-000000000030',
      'target_type', 'episode', 'target_id', '00000000-0000-0000-0000-000000000010',
      'relation', 'related_to'
    )::text
  ],
  'a changed link writes its event'
);
select is(
  memory_test.events_by($$ delete from memory.memory_links as l where l.tenant_id = 'a' $$),
  array[
    'link_deleted ' || jsonb_build_object(
      'source_type', 'fact', 'source_id', '00000000-0000-0000-0000-000000000030',
      'target_type', 'episode', 'target_id', '00000000-0000-0000-0000-000000000010',
      'relation', 'derived_from'
    )::text
  ],
  'a deleted link writes its event'
);

-- Configuration

select results_eq(
  $$ select e.payload, e.memory_type, e.memory_id from memory.memory_events as e
     where e.tenant_id = 'a' and e.event_type = 'settings_created' $$,
  $$ select
       jsonb_build_object('old', '{}'::jsonb, 'new', to_jsonb(memory.default_settings('a')) - 'tenant_id'),
       null::text, null::uuid $$,
  'the event of a tenant''s first settings contains all of them'
);
select is(
  memory_test.events_by($$ select memory.configure('{"retrieval_limit": 7, "rrf_k": 60}') $$),
  array['settings_updated {"new": {"retrieval_limit": 7}, "old": {"retrieval_limit": 20}}'],
  'changing settings records the old and the new value of each changed setting'
);
select is(
  (memory_test.events_by($$ delete from memory.settings as s where s.tenant_id = 'a' $$))[1],
  'settings_deleted ' || jsonb_build_object(
    'old', to_jsonb(memory.default_settings('a')) - 'tenant_id', 'new', '{}'::jsonb
  )::text,
  'deleting settings records all of them'
);
select is(
  memory_test.events_by($$
    insert into memory.tenant_logins (login, tenant_id) values ('ada', 'a');
    update memory.tenant_logins as l set login = 'eve' where l.login = 'ada';
    delete from memory.tenant_logins as l where l.login = 'eve'
  $$),
  array[
    'tenant_login_created {"new": {"login": "ada"}, "old": {}}',
    'tenant_login_updated {"new": {"login": "eve"}, "old": {"login": "ada"}}',
    'tenant_login_deleted {"new": {}, "old": {"login": "eve"}}'
  ],
  'binding, renaming and unbinding a login each write an event'
);
insert into memory.tenant_logins (login, tenant_id) values ('ada', 'left');
update memory.tenant_logins as l set tenant_id = 'joined' where l.login = 'ada';
select results_eq(
  $$ select e.tenant_id, e.event_type, e.payload from memory.memory_events as e
     where e.tenant_id in ('left', 'joined') order by e.seq $$,
  $$ values
     ('left', 'tenant_login_created', '{"new": {"login": "ada"}, "old": {}}'::jsonb),
     ('left', 'tenant_login_deleted', '{"new": {}, "old": {"login": "ada"}}'),
     ('joined', 'tenant_login_created', '{"new": {"login": "ada"}, "old": {}}') $$,
  'moving a login to another tenant writes an event in both tenants'
);
select is(
  memory_test.events_by($$
    update memory.embedding_versions as v set status = 'retired' where v.tenant_id = 'a'
  $$),
  array['embedding_version_updated {"new": {"status": "retired"}, "old": {"status": "active"}}'],
  'changing an embedding version writes its event'
);
select is(
  memory_test.events_by($$ delete from memory.embedding_versions as v where v.tenant_id = 'a' $$),
  array[
    'embedding_version_deleted ' || jsonb_build_object(
      'new', '{}'::jsonb,
      'old', (
        select to_jsonb(v) - '{tenant_id,created_at}'::text[]
        from memory.embedding_versions as v where v.tenant_id = 'a'
      )
    )::text
  ],
  'deleting an embedding version writes its event'
);
-- Bookkeeping

select is(
  memory_test.events_by($$
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    values ('a', 'building', 'fact', '00000000-0000-0000-0000-000000000030');
    update memory.embedding_queue as q set attempts = q.attempts + 1;
    delete from memory.embedding_queue;
    insert into memory.staged_embeddings (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
    values (
      'a', 'fact', '00000000-0000-0000-0000-000000000030', '00000000-0000-0000-0000-000000000001',
      memory_test.axis(1)
    );
    delete from memory.staged_embeddings;
    insert into memory.fact_keys (tenant_id, scope, anchor, predicate) values ('a', 's', 'subject:x', 'p')
  $$),
  '{}', 'the embedding queue, staged vectors and fact keys write no event'
);
select is(
  memory_test.events_by($$
    select memory.set_embedding('fact', '00000000-0000-0000-0000-000000000030', memory_test.axis(1));
    select memory.get_memory('fact', '00000000-0000-0000-0000-000000000030');
    select from memory.recall('tea')
  $$),
  '{}', 'embedding, reading and recalling a memory write no event'
);

-- Who, and why

select results_eq(
  $$ select distinct e.actor, e.login::text collate "default", e.request_id, e.reason
     from memory.memory_events as e $$,
  $$ select
       session_user::text collate "default", session_user::text collate "default", null::text, null::text $$,
  'by default the login is the actor, and there is no request and no reason'
);
select memory.set_request(actor => 'assistant', request_id => 'req-1', reason => 'user_request');
select memory.store_rule('Who') as who_id \gset
select results_eq(
  format(
    $$ select e.actor, e.login::text collate "default", e.request_id, e.reason, e.created_at
       from memory.memory_events as e where e.memory_id = %L $$,
    :'who_id'
  ),
  $$ select 'assistant', session_user::text collate "default", 'req-1', 'user_request', now() $$,
  'an event has the actor, request and reason of set_request, the login and the server''s time'
);
select memory.set_request(reason => 'retention');
select memory.forget_memory('rule', :'who_id');
select results_eq(
  format(
    $$ select e.actor, e.request_id, e.reason from memory.memory_events as e
       where e.memory_id = %L and e.event_type = 'rule_retracted' $$,
    :'who_id'
  ),
  $$ values ('assistant', 'req-1', 'retention') $$,
  'set_request keeps what it is not given'
);
select throws_ok(
  $$ select memory.set_request(actor => repeat('x', 129)) $$,
  'PM002', 'actor is not a name of 1 to 128 bytes without invisible characters',
  'an actor of more than 128 bytes is refused'
);
select throws_ok(
  $$ select memory.set_request(actor => E'a\nb') $$, 'PM002', 'actor is not a name of 1 to 128 bytes without invisible characters',
  'an actor with a line break is refused'
);
select is_empty(
  $$ select to_hex(n)
     from unnest('{7,27,127,155,173,1564,8203,8205,8206,8232,8238,8297,10240,65039,65279,917569,917760}'::integer[]) as n
     where memory.is_actor('a' || chr(n) || 'b') or not memory.has_invisible('a' || chr(n)) $$,
  'an actor with a control, direction or other invisible character is refused'
);
select is_empty(
  $$ select n from unnest(array['assistant', 'user:42', U&'Zo\00EB 1', U&'\4F60\597D', U&'\+01F600']) as n
     where not memory.is_actor(n) or memory.has_invisible(n) $$,
  'an actor may have any visible characters, and spaces'
);
select throws_ok(
  $$ select memory.set_request(request_id => 'two words') $$, 'PM002', 'request_id is not an identifier',
  'a request id of two words is refused'
);
select throws_ok(
  $$ select memory.set_request(request_id => repeat('x', 129)) $$, 'PM002', 'request_id is not an identifier',
  'a request id of more than 128 characters is refused'
);
select throws_ok(
  $$ select memory.set_request(request_id => '') $$, 'PM002', 'request_id is not an identifier',
  'an empty request id is refused'
);
select throws_ok(
  $$ select memory.set_request(reason => 'Ada asked for it') $$, 'PM002', 'reason is not a reason code',
  'a reason that could hold personal content is refused'
);
select throws_ok(
  $$ select memory.set_request(reason => repeat('x', 65)) $$, 'PM002', 'reason is not a reason code',
  'a reason of more than 64 characters is refused'
);
select throws_ok(
  $$ select memory.set_request(actor => '') $$, 'PM002', 'actor is not a name of 1 to 128 bytes without invisible characters',
  'an empty actor is refused'
);
select results_eq(
  $$ select memory.current_actor(), memory.current_request_id(), memory.current_reason() $$,
  $$ values ('assistant', 'req-1', 'retention') $$,
  'a refused set_request changes nothing'
);

savepoint before_forging;
select
  set_config('memory.actor', E'a\nb', true), set_config('memory.request_id', 'two words', true),
  set_config('memory.reason', 'Ada asked for it', true) \g /dev/null
select memory.store_rule('Forged') as forged_id \gset
select e.actor = session_user and e.request_id is null and e.reason is null as forgery_ignored
from memory.memory_events as e where e.memory_id = :'forged_id' \gset
rollback to savepoint before_forging;
select ok(
  :'forgery_ignored', 'values that set_request would refuse are ignored, however they were set'
);
select throws_ok(
  format(
    'insert into memory.memory_events (tenant_id, event_type, %s) values (''a'', ''x'', %L)', c.name, c.value
  ),
  '23514', null, format('an event cannot hold a malformed %s', c.name)
)
from (values (1, 'actor', E'a\nb'), (2, 'request_id', 'two words'), (3, 'reason', 'Ada asked for it'))
as c (position, name, value)
order by c.position;

select memory_test.a_login('audit_agent', 'agents', 'memory_writer');
select memory_test.share_results();
set local session authorization audit_agent;
select memory.store_rule('Mine') as mine_id \gset
select results_eq(
  $$ select e.tenant_id, e.actor, e.login::text collate "default"
     from memory.list_events(event_type => 'rule_created') as e $$,
  $$ values ('agents', 'assistant', 'audit_agent') $$,
  'the login of an event is the session''s, whatever the actor and the function''s owner'
);
select throws_ok(
  $$ select memory.set_request(tenant_id => 'a') $$,
  'PM005', 'tenant ''a'' is not the tenant of this request',
  'a bound login cannot name another tenant'
);
select lives_ok(
  $$ select memory.set_request(tenant_id => 'agents') $$, 'a bound login may repeat its tenant'
);
set local session authorization default;

-- Content never gets into the stream

select memory_test.as_tenant('marked');
select memory.register_embedding_version('model', '1') as marked_version_id \gset
select memory.store_episode('zebra', 'zebra', metadata => '{"zebra": "zebra"}', idempotency_key => 'zebra')
as marked_episode_id \gset
select memory.store_rule('zebra', 'zebra', '["zebra"]', metadata => '{"zebra": "zebra"}',
  source_butler => 'zebra', source_episode_id => :'marked_episode_id', idempotency_key => 'zebra')
as marked_rule_id \gset
insert into memory.entities (tenant_id, id, canonical_name, entity_type, aliases, metadata)
values ('marked', '00000000-0000-0000-0000-000000000021', 'zebra', 'other', '{zebra}', '{"zebra": "zebra"}');
select memory.store_fact('zebra', 'zebra', 'zebra', tags => '["zebra"]', scope => 'zebra',
  entity_id => '00000000-0000-0000-0000-000000000021', source_butler => 'zebra',
  source_episode_id => :'marked_episode_id', metadata => '{"zebra": "zebra"}', idempotency_key => 'zebra',
  as_of => '2025-12-31Z')
as marked_fact_id \gset
select memory.store_fact('zebra', 'zebra', 'zebra2', scope => 'zebra',
  entity_id => '00000000-0000-0000-0000-000000000021', as_of => '2026-01-01Z') as marked_new_id \gset
select memory.confirm_memory('fact', :'marked_new_id');
select memory.set_embedding('fact', :'marked_new_id', memory_test.axis(1));
select from memory.recall('zebra', embedding => memory_test.axis(1));
select memory.get_memory('fact', :'marked_fact_id') \g /dev/null
select memory.context('zebra', 'zebra', include_recent_episodes => true) \g /dev/null
select from memory.create_link('rule', :'marked_rule_id', 'fact', :'marked_fact_id', 'supports');
select memory.mark_harmful(:'marked_rule_id', 'zebra', '{"zebra": "zebra"}') \g /dev/null
update memory.episodes as e
set metadata = '{"zebra2": "zebra2"}', idempotency_key = 'zebra2', last_consolidation_error = 'zebra',
  consolidation_status = 'failed', importance = 1
where e.id = :'marked_episode_id';
update memory.facts as f
set metadata = '{"zebra2": "zebra2", "status": "fading"}', tags = '["zebra2"]', scope = 'zebra2',
  idempotency_key = 'zebra2', source_butler = 'zebra2'
where f.id = :'marked_new_id';
update memory.rules as r
set content = 'zebra2', metadata = '{"original_content": "zebra"}', tags = '["zebra2"]', scope = 'zebra2',
  maturity = 'anti_pattern', source_butler = 'zebra2', applied_count = 7
where r.id = :'marked_rule_id';
update memory.entities as e
set canonical_name = 'zebra2', aliases = '{zebra2}', metadata = '{"zebra2": "zebra2"}'
where e.tenant_id = 'marked';
update memory.entities as e set metadata = '{"merged_into": "zebra"}' where e.tenant_id = 'marked';
select memory.forget_memory('rule', :'marked_rule_id');
select memory.forget_memory('fact', :'marked_new_id');
select memory.forget_memory('episode', :'marked_episode_id');
delete from memory.episodes as e where e.tenant_id = 'marked';
select results_eq(
  $$ select e.event_type, count(*) from memory.memory_events as e
     where e.tenant_id = 'marked' group by 1 order by e.event_type collate "C" $$,
  $$ values
     ('embedding_version_created', 1::bigint), ('entity_created', 1), ('entity_merge', 1),
     ('entity_updated', 2), ('episode_created', 1), ('episode_deleted', 1), ('episode_expired', 1),
     ('episode_failed', 1), ('episode_updated', 1), ('fact_confirmed', 1), ('fact_created', 2),
     ('fact_fading', 1), ('fact_retracted', 1), ('fact_superseded', 1), ('fact_updated', 1),
     ('link_created', 4), ('rule_created', 1), ('rule_harmful', 1), ('rule_inverted', 1),
     ('rule_retracted', 1), ('rule_updated', 2) $$,
  'every kind of change to a memory writes its event'
);
select is_empty(
  $$ select e.* from memory.memory_events as e where e.tenant_id = 'marked' and e::text like '%zebra%' $$,
  'no event contains any content of a memory'
);

-- The stream itself

select throws_ok(
  $$ update memory.memory_events as e set event_type = 'x' where e.tenant_id = 'a' $$,
  'PM006', 'memory_events is append-only: UPDATE refused', 'an event cannot be changed'
);
select throws_ok(
  $$ delete from memory.memory_events as e where e.tenant_id = 'a' $$,
  'PM006', 'memory_events is append-only: DELETE refused', 'an event cannot be deleted'
);
select throws_ok(
  $$ truncate memory.memory_events $$,
  'PM006', 'memory_events is append-only: TRUNCATE refused', 'the audit stream cannot be truncated'
);
set local session_replication_role = replica;
select throws_ok(
  $$ update memory.memory_events as e set event_type = 'x' where e.tenant_id = 'a' $$,
  'PM006', 'memory_events is append-only: UPDATE refused',
  'an event cannot be changed in a session that replays replicated changes'
);
select throws_ok(
  $$ delete from memory.memory_events as e where e.tenant_id = 'a' $$,
  'PM006', 'memory_events is append-only: DELETE refused',
  'an event cannot be deleted in a session that replays replicated changes'
);
select throws_ok(
  $$ truncate memory.memory_events $$,
  'PM006', 'memory_events is append-only: TRUNCATE refused',
  'the audit stream cannot be truncated in a session that replays replicated changes'
);
set local session_replication_role = origin;
select throws_ok(
  $$ insert into memory.memory_events (tenant_id, event_type, payload) values ('a', 'x', '[]') $$,
  '23514', null, 'the payload of an event must be an object'
);
select throws_ok(
  format('truncate memory.%I cascade', t.name),
  'PM006', format('TRUNCATE of %s refused: it would leave no audit trail', t.name),
  format('%s cannot be truncated', t.name)
)
from unnest(
  '{embedding_versions,entities,episodes,facts,memory_links,rule_applications,rules,settings,tenant_logins}'
  ::text[]
) with ordinality as t (name, position)
order by t.position;

-- list_events

select memory_test.as_tenant('listed');
insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, created_at)
overriding user value
select
  'listed', case when n % 2 = 0 then 'even' else 'odd' end, 'fact',
  format('00000000-0000-0000-0000-%s', lpad((n % 3)::text, 12, '0'))::uuid,
  '2026-01-01Z'::timestamptz + (n / 3) * interval '1 hour'
from generate_series(1, 12) as n
order by n;
-- The listed events, numbered in the order in which they were inserted.
create function memory_test.numbers_of(seqs bigint[])
  returns bigint[]
  language sql
  stable
  return (
    select array_agg(n.number order by s.position)
    from unnest(seqs) with ordinality as s (seq, position)
    join (
      select e.seq, row_number() over (order by e.seq) as number
      from memory.memory_events as e where e.tenant_id = 'listed'
    ) as n on n.seq = s.seq
  );
select is(
  memory_test.numbers_of(array(select e.seq from memory.list_events() as e)),
  '{12,11,10,9,8,7,6,5,4,3,2,1}',
  'events are listed newest first, by time and then by sequence number'
);
select is(
  memory_test.numbers_of(array(
    select e.seq from memory.list_events('00000000-0000-0000-0000-000000000001') as e
  )),
  '{10,7,4,1}', 'the events of one memory are listed'
);
select is(
  memory_test.numbers_of(array(select e.seq from memory.list_events(event_type => 'even') as e)),
  '{12,10,8,6,4,2}', 'the events of one type are listed'
);
select is(
  memory_test.numbers_of(array(
    select e.seq from memory.list_events('00000000-0000-0000-0000-000000000001', 'even') as e
  )),
  '{10,4}', 'the events of one memory and one type are listed'
);
select is_empty(
  $$ select e.* from memory.list_events(event_type => 'neither') as e $$,
  'an unknown event type has no events'
);
select is_empty(
  $$ select e.* from memory.list_events('00000000-0000-0000-0000-000000000009') as e $$,
  'an unknown memory has no events'
);
select is(
  memory_test.numbers_of(array(select e.seq from memory.list_events(before_at => '2026-01-01T02:00Z') as e)),
  '{5,4,3,2,1}', 'only events before the given time are listed'
);
select is(
  memory_test.numbers_of(array(select e.seq from memory.list_events(max_results => 5) as e)),
  '{12,11,10,9,8}', 'a page holds at most max_results events'
);
select is(
  (
    with recursive pages as (
      (select e.created_at, e.seq, 1 as page from memory.list_events(max_results => 5) as e)
      union all
      select e.created_at, e.seq, p.page + 1
      from (select * from pages order by created_at, seq limit 1) as p
      cross join lateral memory.list_events(
        before_at => p.created_at, before_seq => p.seq, max_results => 5
      ) as e
    )
    select memory_test.numbers_of(array_agg(p.seq order by p.page, p.created_at desc, p.seq desc))
    from pages as p
  ),
  '{12,11,10,9,8,7,6,5,4,3,2,1}',
  'paging on from the last event of each page returns every event once'
);
select is(
  (select count(*) from memory.list_events(max_results => 10000)), 12::bigint,
  'a page of ten thousand events is allowed'
);
select throws_ok(
  format('select * from memory.list_events(max_results => %L)', n.value), 'PM002', null,
  format('a page of %s events is refused', coalesce(n.value, 'NULL'))
)
from unnest('{0,-1,10001,null}'::text[]) with ordinality as n (value, position)
order by n.position;
select memory_test.as_tenant('unlisted');
select is_empty($$ select e.* from memory.list_events() as e $$, 'another tenant sees none of these events');
select memory_test.as_tenant('');
select throws_ok(
  $$ select e.* from memory.list_events() as e $$, '28000', 'this transaction names no tenant',
  'listing events without a tenant is refused'
);

select * from finish();
rollback;
