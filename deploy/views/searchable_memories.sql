-- Deploy pymem:views/searchable_memories to pg

begin;

set local role memory_owner;

create or replace view memory.searchable_memories
with (security_invoker = true)
as
select
  'episode'::text as memory_type,
  e.tenant_id,
  e.id,
  e.butler as scope,
  null::text as subject,
  null::text as predicate,
  e.content,
  e.importance,
  1.0::float8 as confidence,
  0.0::float8 as decay_rate,
  null::text as permanence,
  null::text as maturity,
  null::float8 as effectiveness_score,
  null::uuid as entity_id,
  e.session_id,
  '[]'::jsonb as tags,
  e.metadata,
  e.created_at,
  null::timestamptz as last_confirmed_at,
  e.last_referenced_at,
  e.reference_count,
  e.updated_at,
  null::timestamptz as valid_from,
  null::timestamptz as valid_to,
  e.expires_at,
  e.embedding,
  e.search_vector,
  e.lifecycle_state,
  true as is_live
from memory.episodes as e
union all
select
  'fact'::text,
  f.tenant_id,
  f.id,
  f.scope,
  f.subject,
  f.predicate,
  f.content,
  f.importance,
  f.confidence,
  f.decay_rate,
  f.permanence,
  null::text,
  null::float8,
  f.entity_id,
  null::uuid,
  f.tags,
  f.metadata,
  f.created_at,
  f.last_confirmed_at,
  f.last_referenced_at,
  f.reference_count,
  f.updated_at,
  f.valid_from,
  f.valid_to,
  null::timestamptz,
  f.embedding,
  f.search_vector,
  f.lifecycle_state,
  f.validity = 'active' as is_live
from memory.facts as f
union all
select
  'rule'::text,
  r.tenant_id,
  r.id,
  r.scope,
  null::text,
  null::text,
  r.content,
  r.importance,
  r.confidence,
  r.decay_rate,
  r.permanence,
  r.maturity,
  r.effectiveness_score,
  null::uuid,
  null::uuid,
  r.tags,
  r.metadata,
  r.created_at,
  r.last_confirmed_at,
  r.last_referenced_at,
  r.reference_count,
  r.updated_at,
  null::timestamptz,
  null::timestamptz,
  null::timestamptz,
  r.embedding,
  r.search_vector,
  r.lifecycle_state,
  r.lifecycle_state <> 'retracted' as is_live
from memory.rules as r;

comment on view memory.searchable_memories is
'Episodes, facts and rules in one shape: what search reads. is_live: an active fact, a rule not '
'forgotten; a column and not a condition, because only branches without one can use a vector '
'index. expires_at (episodes only) is for the reader to compare with its time. The scope of an '
'episode is its butler.';

commit;
