-- Verify pymem:tables/event_chain on pg

begin;
select c.tenant_id, c.position, c.event_id, c.event_digest, c.hash, c.sealed_at
from memory.event_chain as c
where false;
select h.tenant_id, h.position, h.hash, h.sealed_at
from memory.event_chain_heads as h
where false;
rollback;
