-- Verify pymem:tables/entities on pg

begin;
select
  e.tenant_id, e.id, e.canonical_name, e.entity_type, e.aliases, e.metadata,
  e.lifecycle_state, e.created_at, e.updated_at
from memory.entities as e
where false;
select n.tenant_id, n.name, n.entity_id, n.entity_type, n.is_canonical
from memory.entity_names as n
where false;
rollback;
