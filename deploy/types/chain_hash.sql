-- Deploy pymem:types/chain_hash to pg

begin;

set local role memory_owner;

create aggregate memory.chain_hash(head bytea, digest bytea) (
  sfunc = memory.append_digest,
  stype = bytea
);

comment on aggregate memory.chain_hash(bytea, bytea) is
'The hash of a chain of digests that continues from a head; as a window function, the hash of each '
'prefix.';

commit;
