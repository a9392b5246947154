-- Verify pymem:tables/embedding_versions on pg

begin;
select
  v.tenant_id, v.id, v.model, v.version, v.rendering, v.dimensions, v.similarity_floor,
  v.similarity_ceiling, v.status, v.created_at
from memory.embedding_versions as v
where false;
rollback;
