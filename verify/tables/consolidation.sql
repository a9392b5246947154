-- Verify pymem:tables/consolidation on pg

begin;
select
  r.tenant_id, r.id, r.butler, r.status, r.episode_ids, r.prompt_version, r.model, r.started_at,
  r.leased_until, r.finished_at, r.facts_created, r.facts_superseded, r.rules_created,
  r.facts_ended, r.rules_changed, r.rules_withdrawn, r.confirmed, r.contradicted, r.rejected,
  r.errors, r.was_answered, r.answer, r.prompt_tokens, r.answer_tokens, r.llm_seconds
from memory.consolidation_runs as r
where false;
select
  p.tenant_id, p.run_id, p.position, p.action, p.item, p.key, p.memory_type, p.memory_id, p.content,
  p.reason, p.evidence, p.quotes, p.trust, p.observed_at, p.status, p.outcome, p.created_at,
  p.decided_at
from memory.consolidation_proposals as p
where false;
rollback;
