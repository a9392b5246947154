-- Verify pymem:tables/links on pg

begin;
select
  l.tenant_id, l.source_type, l.source_id, l.target_type, l.target_id, l.relation, l.created_at
from memory.memory_links as l
where false;
rollback;
