-- Verify pymem:tables/facts on pg

begin;
select
  f.tenant_id, f.id, f.subject, f.predicate, f.content, f.embedding, f.embedding_version_id,
  f.text_search_config, f.search_vector, f.importance, f.confidence, f.decay_rate, f.permanence,
  f.source_butler, f.source_episode_id, f.trust, f.supersedes_id, f.entity_id,
  f.object_entity_id, f.validity, f.lifecycle_state, f.scope, f.reference_count, f.created_at,
  f.last_referenced_at,
  f.last_confirmed_at, f.observed_at, f.updated_at, f.valid_from,
  f.valid_to, f.tags, f.metadata, f.idempotency_key
from memory.facts as f
where false;
select k.tenant_id, k.scope, k.anchor, k.predicate from memory.fact_keys as k where false;
rollback;
