-- Verify pymem:triggers/approvals on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.approvals'::regclass and t.tgname in (
  'audit',
  'refuse_change',
  'refuse_truncate'
);
rollback;
