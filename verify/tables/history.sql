-- Verify pymem:tables/history on pg

begin;
select
  h.tenant_id, h.memory_type, h.memory_id, h.known_from, h.known_to, h.recorded_at, h.image,
  h.successor_digest
from memory.memory_history as h
where false;
rollback;
