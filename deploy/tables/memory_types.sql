-- Deploy pymem:tables/memory_types to pg

begin;

set local role memory_owner;

-- What all memories have in common is written once, and this says how they differ. Conditions and
-- assignments are SQL: m is a row of the table, $1 the time (as_of).
create table memory.memory_types (
  memory_type text primary key check (memory_type ~ '^[a-z]{1,63}$'),
  table_name name not null unique,
  position integer not null unique,
  is_searched boolean not null default true,
  is_default boolean not null default true,
  fixed_columns text[] not null default '{}',
  counted_columns text[] not null default '{}',
  live_condition text,
  shape jsonb not null default '{}' check (jsonb_typeof(shape) = 'object'),
  forgettable_condition text,
  forget_assignments text,
  decaying_condition text,
  ended_condition text,
  expire_assignments text,
  transition_details text,
  constraint memory_types_searched_check
  check (
    not is_searched
    or num_nulls(live_condition, forgettable_condition, forget_assignments) = 0
  ),
  constraint memory_types_decaying_check
  check (num_nulls(decaying_condition, ended_condition, expire_assignments) in (0, 3))
);

comment on table memory.memory_types is
'One row per type of memory: what distinguishes it from the others. Functions, triggers and views '
'that all types have in common are made from these rows (memory.refresh_memory_types, '
'memory.attach_triggers).';
comment on column memory.memory_types.position is 'Order of the types in answers.';
comment on column memory.memory_types.is_searched is
'Whether searches find it; otherwise it is only audited and kept in history, as entities and items '
'are.';
comment on column memory.memory_types.is_default is
'Whether a search that names no types looks at it.';
comment on column memory.memory_types.fixed_columns is
'Columns that never change once stored, besides those no memory changes: history leaves them out.';
comment on column memory.memory_types.counted_columns is
'Columns whose change may change the statistics of the corpus: its text, and whether it is live.';
comment on column memory.memory_types.live_condition is 'Whether searches may return it.';
comment on column memory.memory_types.shape is
'Columns of memory.searchable_memories that the table lacks, and the expression for each; a '
'column that is in neither is NULL.';
comment on column memory.memory_types.forgettable_condition is
'Whether it is not forgotten yet, so that forgetting changes it.';
comment on column memory.memory_types.forget_assignments is 'How forgetting changes it.';
comment on column memory.memory_types.decaying_condition is
'Which memories the decay sweep looks at; NULL for a type that does not decay.';
comment on column memory.memory_types.ended_condition is
'Which of these expire whatever their confidence.';
comment on column memory.memory_types.expire_assignments is 'How expiring changes it.';
comment on column memory.memory_types.transition_details is
'What the event of a transition says beyond the two states: a JSON object over n, the new row; '
'NULL for nothing.';

insert into memory.memory_types (
  memory_type, table_name, position, fixed_columns, counted_columns, live_condition, shape,
  forgettable_condition, forget_assignments, decaying_condition, ended_condition, expire_assignments
)
values
(
  'episode', 'episodes', 1, '{content}', '{text_search_config,index_rendering,search_vector}',
  'true',
  '{
    "scope": "m.butler", "source_butler": "m.butler", "confidence": "1.0",
    "effective_confidence": "1.0", "decay_rate": "0.0", "decay_key": "0.0", "tags": "''[]''"
  }',
  '(m.expires_at is null or m.expires_at > $1)', 'expires_at = $1', null, null, null
),
(
  'fact', 'facts', 2, '{content}', '{validity,text_search_config,search_vector}',
  $$m.validity = 'active'$$, '{}',
  $$m.validity <> 'retracted'$$,
  $$validity = 'retracted', metadata = m.metadata - 'status'$$,
  $$m.validity = 'active' and (m.decay_rate > 0 or m.valid_to <= $1)$$, 'm.valid_to <= $1',
  $$validity = 'expired', metadata = m.metadata - 'status'$$
),
(
  'rule', 'rules', 3, '{}', '{content,metadata,text_search_config,search_vector}',
  $$m.lifecycle_state <> 'retracted'$$, '{}',
  $$m.lifecycle_state <> 'retracted'$$,
  $$metadata = (m.metadata - 'status') || '{"forgotten": true}'$$,
  $$m.lifecycle_state <> 'retracted' and m.maturity <> 'anti_pattern' and m.decay_rate > 0$$,
  'false',
  $$metadata = (m.metadata - 'status') || '{"forgotten": true}'$$
);

-- An entry of a user, a persona or a session (state guarded) is found by memory.query_memory only.
insert into memory.memory_types (
  memory_type, table_name, position, is_default, fixed_columns, counted_columns, live_condition,
  shape, forgettable_condition, forget_assignments, transition_details
)
values (
  'entry', 'entries', 4, false, '{entry_id,policy,user_id,persona_id}',
  '{content,tags,keywords,retention,expired_at,deleted_at,text_search_config,search_vector}',
  $$m.lifecycle_state = 'active'$$, '{"session_id": "null"}',
  'm.deleted_at is null', 'deleted_at = $1',
  $$case when n.policy = 'billy' then jsonb_build_object(
    'entry_id', n.entry_id,
    'scope', jsonb_build_object(
      'user_id', n.user_id, 'persona_id', n.persona_id, 'session_id', n.session_id
    ),
    'confidence', n.confidence,
    'reason', case when n.lifecycle_state = 'expired' then
      case when n.expires_at <= n.expired_at then 'expired' else 'faded' end
    end
  ) else '{}' end$$
);

insert into memory.memory_types (memory_type, table_name, position, is_searched)
values ('entity', 'entities', 5, false);

-- Only reading moves the expiry.
insert into memory.memory_types (memory_type, table_name, position, is_searched, fixed_columns)
values ('item', 'store_items', 6, false, '{namespace,key,expires_at}');

commit;
