-- Verify pymem:tables/chain_verifications on pg

begin;
select
  v.tenant_id, v.id, v.verified_at, v.actor, v.position, v.hash, v.has_anchor, v.problems
from memory.chain_verifications as v
where false;
rollback;
