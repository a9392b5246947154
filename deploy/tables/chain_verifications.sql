-- Deploy pymem:tables/chain_verifications to pg

begin;

set local role memory_owner;

create table memory.chain_verifications (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  verified_at timestamptz not null check (isfinite(verified_at)),
  actor text not null check (memory.is_actor(actor)),
  position bigint not null check (position >= 0),
  hash bytea not null check (octet_length(hash) in (0, 32)),
  has_anchor boolean not null,
  problems integer not null check (problems >= 0),
  primary key (tenant_id, id)
);

create index chain_verifications_verified_idx
on memory.chain_verifications (tenant_id, verified_at desc, id);

comment on table memory.chain_verifications is
'When the hash chain of a tenant was verified, and with which result: so that it shows when nobody '
'has looked for long.';
comment on column memory.chain_verifications.position is
'How many events were sealed then.';
comment on column memory.chain_verifications.hash is
'The hash of the last of them; empty before the first seal.';
comment on column memory.chain_verifications.has_anchor is
'Whether the chain was compared with a seal that was kept elsewhere.';
comment on column memory.chain_verifications.problems is
'How many problems were found, counted to 10000.';

commit;
