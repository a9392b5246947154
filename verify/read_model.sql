-- Verify pymem:read_model on pg

begin;
select m.memory_type, m.id, m.lifecycle_state, m.effective_confidence
from memory.memory_overview as m
where false;
select e.seq, e.event_type from memory.event_feed as e where false;
select p.source_id, p.target_id from memory.provenance as p where false;
select o.rule_id, o.outcome from memory.rule_outcomes as o where false;
rollback;
