-- Verify pymem:tables/entities on pg

begin;
select
  e.tenant_id, e.id, e.canonical_name, e.entity_type, e.aliases, e.metadata,
  e.lifecycle_state, e.created_at, e.updated_at
from memory.entities as e
where false;
rollback;
