-- Verify pymem:tables/entries on pg

begin;
select
  e.tenant_id, e.id, e.entry_id, e.title, e.content, e.entry_type, e.category, e.tags, e.keywords,
  e.importance, e.confidence, e.decay_rate, e.source, e.trust, e.policy, e.scope, e.user_id,
  e.persona_id, e.session_id, e.retention, e.version, e.created_at, e.edited_at,
  e.last_confirmed_at, e.decayed_at, e.reference_count, e.last_referenced_at, e.expires_at,
  e.flagged_at, e.expired_at, e.deleted_at, e.updated_at, e.lifecycle_state, e.metadata,
  e.embedding, e.embedding_version_id, e.text_search_config, e.search_vector, e.idempotency_key
from memory.entries as e
where false;
select n.tenant_id, n.day, n.last_number from memory.entry_numbers as n where false;
select p.tenant_id, p.scope, p.policy from memory.entry_policies as p where false;
select
  c.tenant_id, c.id, c.cause, c.finished_at, c.examined, c.merged, c.created, c.flagged, c.archived
from memory.entry_consolidations as c
where false;
rollback;
