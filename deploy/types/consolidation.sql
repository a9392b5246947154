-- Deploy pymem:types/consolidation to pg

begin;

set local role memory_owner;

create type memory.planned_action as (
  action text,
  outcome text,
  reason text,
  memory_type text,
  memory_id uuid,
  other_ids uuid[],
  before text,
  is_trusted boolean,
  subject text,
  predicate text,
  content text,
  scope text,
  entity_id uuid,
  object_entity_id uuid,
  category text,
  permanence text,
  importance float8,
  confidence float8,
  tags jsonb,
  valid_from timestamptz,
  valid_to timestamptz,
  evidence uuid[],
  trust text,
  observed_at timestamptz
);

comment on type memory.planned_action is
'What an element of an answer would do: its outcome, the fact or rule concerned (memory_id; '
'other_ids: other active facts of the same key, which would be superseded too) and its present '
'text (before), and why that may not be changed without a review (reason, NULL if it may). '
'is_trusted: whether the evidence is trusted at least as much as what it concerns. The rest is '
'what would be stored: names resolved, limits applied, with the evidence that still exists, its '
'least trust and the newest time.';

commit;
