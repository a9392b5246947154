-- Verify pymem:tables/rules on pg

begin;
select
  r.tenant_id, r.id, r.content, r.embedding, r.embedding_version_id, r.text_search_config,
  r.search_vector, r.scope, r.maturity, r.importance, r.confidence, r.decay_rate, r.permanence,
  r.effectiveness_score, r.applied_count, r.success_count, r.harmful_count, r.asymmetric_score,
  r.source_episode_id, r.trust, r.source_butler, r.lifecycle_state, r.reference_count, r.created_at,
  r.last_applied_at, r.last_evaluated_at, r.last_confirmed_at, r.observed_at, r.last_referenced_at,
  r.updated_at, r.tags, r.metadata, r.idempotency_key
from memory.rules as r
where false;
select a.tenant_id, a.id, a.rule_id, a.outcome, a.reason, a.context, a.created_at
from memory.rule_applications as a
where false;
rollback;
