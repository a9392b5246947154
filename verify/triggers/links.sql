-- Verify pymem:triggers/links on pg

begin;
select 1 / (count(*) = 6)::integer
from pg_trigger as t
where t.tgrelid = 'memory.memory_links'::regclass and t.tgname in (
  'audit',
  'audit_created',
  'check_changed_ends',
  'check_ends',
  'lower_trust',
  'refuse_truncate'
);
rollback;
