-- Verify pymem:tables/entity_merges on pg

begin;
select
  tenant_id, id, source_entity_id, target_entity_id, facts_repointed, facts_superseded,
  historical_facts_moved, mentions_repointed, aliases_added, target_state_at, merged_at, unmerged_at
from memory.entity_merges where false;
select tenant_id, merge_id, fact_id, change, state_at, winner_id, is_linked, is_chained
from memory.entity_merge_facts where false;
rollback;
