-- Verify pymem:tables/tombstones on pg

begin;
select t.tenant_id, t.memory_type, t.memory_id, t.created_at, t.deleted_at
from memory.tombstones as t
where false;
rollback;
