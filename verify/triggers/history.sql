-- Verify pymem:triggers/history on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.memory_history'::regclass and t.tgname in (
  'refuse_change',
  'refuse_loss',
  'refuse_truncate'
);
rollback;
