-- Verify pymem:tables/store_items on pg

begin;
select
  i.tenant_id, i.id, i.namespace, i.key, i.value, i.lifecycle_state, i.ttl, i.expires_at,
  i.created_at, i.updated_at
from memory.store_items as i
where false;
select v.tenant_id, v.item_id, v.path, v.embedding
from memory.store_vectors as v
where false;
rollback;
