-- Verify pymem:tables/access_tokens on pg

begin;
select
  t.tenant_id, t.id, t.name, t.token_digest, t.role, t.actor, t.created_at, t.expires_at,
  t.revoked_at, t.last_used_on
from memory.access_tokens as t
where false;
rollback;
