-- Deploy pymem:tables/embedding_queue to pg

begin;

set local role memory_owner;

create table memory.embedding_queue (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  target text not null check (target in ('active', 'building')),
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  memory_id uuid not null,
  enqueued_at timestamptz not null default now() check (isfinite(enqueued_at)),
  claimed_until timestamptz check (isfinite(claimed_until)),
  attempts integer not null default 0 check (attempts >= 0),
  primary key (tenant_id, target, memory_type, memory_id)
)
-- Rows come and go: what is dead does not depend on how many there are.
with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index embedding_queue_order_idx
on memory.embedding_queue (tenant_id, target, attempts, enqueued_at, memory_type, memory_id);

comment on table memory.embedding_queue is
'Memories that lack a vector: of the active embedding version after a store without one, of the '
'version being built during a change of model. Maintained by triggers.';
comment on column memory.embedding_queue.target is
'Status of the embedding version whose vector is missing: active or building.';
comment on column memory.embedding_queue.claimed_until is
'A worker has claimed it until then; NULL or past: free.';
comment on column memory.embedding_queue.attempts is 'How often it has been claimed.';

create table memory.staged_embeddings (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  memory_id uuid not null,
  embedding_version_id uuid not null,
  embedding public.vector(384) not null
  constraint staged_embeddings_norm_check
  check (public.vector_norm(embedding) between 1e-6 and 1e6),
  primary key (tenant_id, memory_type, memory_id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id) on delete cascade
);

create index staged_embeddings_version_idx
on memory.staged_embeddings (tenant_id, embedding_version_id);

comment on table memory.staged_embeddings is
'Vectors of the embedding version being built, until memory.activate_embedding_version moves them '
'into the memories.';

commit;
