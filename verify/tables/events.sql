-- Verify pymem:tables/events on pg

begin;
select
  e.tenant_id, e.id, e.seq, e.event_type, e.memory_type, e.memory_id, e.actor, e.login,
  e.request_id, e.reason, e.payload, e.created_at
from memory.memory_events as e
where false;
rollback;
