-- Verify pymem:tables/sessions on pg

begin;
select
  s.tenant_id, s.id, s.session_digest, s.csrf_token, s.token_id, s.login, s.role, s.actor,
  s.created_at, s.last_used_at, s.expires_at
from memory.sessions as s
where false;
select c.tenant_id, c.code_digest, c.login, c.role, c.actor, c.created_at, c.expires_at
from memory.login_codes as c
where false;
rollback;
