-- Verify pymem:triggers/settings on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.settings'::regclass and t.tgname in (
  'audit',
  'forget_due_times',
  'refuse_truncate'
);
rollback;
