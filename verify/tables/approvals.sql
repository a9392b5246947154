-- Verify pymem:tables/approvals on pg

begin;
select
  a.tenant_id, a.id, a.action, a.data_class, a.user_id, a.persona_id, a.session_id, a.granted_by,
  a.reason, a.created_at, a.expires_at, a.lapses_at, a.used_at, a.used_by, a.revoked_at
from memory.approvals as a
where false;
rollback;
