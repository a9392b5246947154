-- Deploy pymem:functions/extras/operations/digests to pg

begin;

set local role memory_owner;

create or replace function memory.append_digest(
  hash bytea,
  head bytea,
  digest bytea
)
  returns bytea
  language sql
  immutable
  parallel safe
  return sha256(coalesce(hash, head) || digest);

comment on function memory.append_digest(bytea, bytea, bytea) is
'The next hash of a chain: SHA-256 of the previous hash, or of the head if there is none, and a '
'digest.';

commit;
