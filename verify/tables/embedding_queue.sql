-- Verify pymem:tables/embedding_queue on pg

begin;
select
  q.tenant_id, q.target, q.memory_type, q.memory_id, q.enqueued_at, q.claimed_until, q.attempts
from memory.embedding_queue as q
where false;
select s.tenant_id, s.memory_type, s.memory_id, s.embedding_version_id, s.embedding
from memory.staged_embeddings as s
where false;
rollback;
