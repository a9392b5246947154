-- Verify pymem:triggers/sensitive_patterns on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.tenant_patterns'::regclass and t.tgname in (
  'audit',
  'refuse_truncate'
);
rollback;
