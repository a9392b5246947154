-- Deploy pymem:tables/event_chain to pg

begin;

set local role memory_owner;

create table memory.event_chain (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  position bigint not null check (position > 0),
  event_id uuid not null,
  event_digest bytea not null check (octet_length(event_digest) = 32),
  hash bytea not null check (octet_length(hash) = 32),
  sealed_at timestamptz not null default now() check (isfinite(sealed_at)),
  primary key (tenant_id, position),
  constraint event_chain_event_key unique (tenant_id, event_id)
);

comment on table memory.event_chain is
'Seals of events: each hash covers the digest of its event and the previous hash, so changing, '
'removing or inserting a sealed event breaks the chain from there on.';
comment on column memory.event_chain.position is 'Position in the chain of the tenant, from 1.';
comment on column memory.event_chain.event_digest is 'SHA-256 of the event (memory.event_digest).';
comment on column memory.event_chain.hash is
'SHA-256 of the previous hash (empty for the first event) and the digest of the event.';

create table memory.event_chain_heads (
  tenant_id text primary key check (octet_length(tenant_id) <@ int4range '[1,128]'),
  position bigint not null check (position >= 0),
  hash bytea not null check (octet_length(hash) in (0, 32)),
  sealed_at timestamptz not null check (isfinite(sealed_at)),
  settled_seq bigint not null default 0 check (settled_seq >= 0),
  noted_seq bigint check (noted_seq > settled_seq),
  noted_xid xid8,
  constraint event_chain_heads_noted_check check ((noted_seq is null) = (noted_xid is null))
);

comment on table memory.event_chain_heads is
'The end of each chain. A copy kept elsewhere shows whether a chain was cut off and rebuilt.';
comment on column memory.event_chain_heads.position is 'Number of sealed events.';
comment on column memory.event_chain_heads.hash is
'Hash of the last sealed event; empty before the first.';
comment on column memory.event_chain_heads.settled_seq is
'Every event up to this one is sealed, and no transaction is left that could still commit one: the '
'next seal looks only at later ones.';
comment on column memory.event_chain_heads.noted_seq is
'Becomes settled_seq once no transaction older than noted_xid runs; NULL: nothing to settle.';
comment on column memory.event_chain_heads.noted_xid is
'A transaction that began after every one that had drawn a number up to noted_seq.';

commit;
