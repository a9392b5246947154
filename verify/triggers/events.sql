-- Verify pymem:triggers/events on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.memory_events'::regclass and t.tgname in (
  'assign_xid',
  'refuse_change',
  'refuse_truncate'
);
rollback;
