-- Verify pymem:triggers/sessions on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.sessions'::regclass and t.tgname in (
  'audit',
  'audit_updated',
  'refuse_truncate'
);
rollback;
