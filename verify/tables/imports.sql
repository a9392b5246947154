-- Verify pymem:tables/imports on pg

begin;
select
  b.tenant_id, b.id, b.name, b.format, b.source_class, b.status, b.created, b.known, b.started_at,
  b.undone_at
from memory.import_batches as b
where false;
select
  i.tenant_id, i.memory_type, i.memory_id, i.batch_id, i.source_digest, i.imported_at
from memory.imported_memories as i
where false;
select e.tenant_id, e.batch_id, e.seq, e.event
from memory.restored_events as e
where false;
rollback;
