-- Deploy pymem:types/store to pg

begin;

set local role memory_owner;

create type memory.fact_to_store as (
  id uuid,
  anchor text,
  predicate_key text,
  subject text,
  predicate text,
  content text,
  importance float8,
  permanence text,
  scope text,
  tags jsonb,
  entity_id uuid,
  object_entity_id uuid,
  confidence float8,
  source_butler text,
  source_episode_id uuid,
  metadata jsonb,
  embedding public.vector,
  idempotency_key text,
  valid_from timestamptz,
  valid_to timestamptz,
  source_class text,
  created_at timestamptz
);

comment on type memory.fact_to_store is
'An element of the store_facts argument: whitespace collapsed, defaults filled in, with its new id '
'and the anchor and predicate of its fact_keys row.';

create type memory.entity_neighbor as (
  entity_id uuid,
  canonical_name text,
  entity_type text,
  depth integer,
  via_entity_id uuid,
  direction text,
  relation text,
  fact_id uuid,
  edges bigint
);

comment on type memory.entity_neighbor is
'An entity near another one: depth steps away, reached from via_entity_id by the relation that '
'fact_id states; edges is the number of edges that lead to it from the previous depth.';

create type memory.resolved_entity as (
  entity_id uuid,
  canonical_name text,
  entity_type text,
  score float8,
  name_match text,
  aliases text[]
);

comment on type memory.resolved_entity is
'An entity that a name may refer to: its score (higher is better) and the kind of match: exact, '
'alias, prefix or fuzzy.';

create type memory.message_turn as (
  ordinal bigint,
  role text,
  content text,
  source_class text,
  metadata jsonb,
  created_at timestamptz,
  identity jsonb
);

comment on type memory.message_turn is
'An element of the store_messages argument: what it says, whose statement that is, when it was '
'said, and what makes it the same turn when it is handed over again.';

create type memory.stored_message as (
  position bigint,
  session_id uuid,
  episode_id uuid,
  is_new boolean
);

comment on type memory.stored_message is
'A message that memory.store_messages stored: its position from 1, the session and episode that it '
'is in, and whether it is new.';

commit;
