-- Verify pymem:triggers/access_tokens on pg

begin;
select 1 / (count(*) = 5)::integer
from pg_trigger as t
where t.tgrelid = 'memory.access_tokens'::regclass and t.tgname in (
  'audit_created',
  'audit_revoked',
  'audit_updated',
  'refuse_change',
  'refuse_truncate'
);
rollback;
