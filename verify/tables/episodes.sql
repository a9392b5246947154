-- Verify pymem:tables/episodes on pg

begin;
select
  e.tenant_id, e.id, e.butler, e.session_id, e.content, e.embedding, e.embedding_version_id,
  e.text_search_config, e.search_vector, e.source_class, e.importance, e.reference_count,
  e.consolidated, e.consolidation_status, e.consolidation_attempts, e.retry_count,
  e.last_consolidation_error, e.last_error, e.next_consolidation_retry_at,
  e.consolidation_batch_limit, e.lifecycle_state, e.created_at, e.last_referenced_at,
  e.updated_at, e.expires_at, e.metadata, e.idempotency_key
from memory.episodes as e
where false;
rollback;
