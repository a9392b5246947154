-- Verify pymem:tables/consolidation on pg

begin;
select
  r.tenant_id, r.id, r.butler, r.status, r.episode_ids, r.prompt_version, r.model, r.started_at,
  r.leased_until, r.finished_at, r.facts_created, r.facts_superseded, r.rules_created, r.confirmed,
  r.contradicted, r.rejected, r.errors
from memory.consolidation_runs as r
where false;
select p.tenant_id, p.run_id, p.position, p.action, p.item, p.status, p.outcome
from memory.consolidation_proposals as p
where false;
rollback;
