-- Deploy pymem:tables/tombstones to pg

begin;

set local role memory_owner;

create table memory.tombstones (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type = any(memory.memory_type_names())),
  memory_id uuid not null,
  created_at timestamptz not null check (isfinite(created_at)),
  deleted_at timestamptz not null default now() check (isfinite(deleted_at)),
  primary key (tenant_id, memory_type, memory_id)
);

comment on table memory.tombstones is
'What remains of deleted memories that links refer to: that they existed, but none of their '
'content. Links to them resolve as expired.';
comment on column memory.tombstones.created_at is 'When the memory was created.';
comment on column memory.tombstones.deleted_at is
'Time of the transaction that deleted it, always from the server''s clock.';

commit;
