-- Verify pymem:triggers/imports on pg

begin;
select 1 / (count(*) = 4)::integer
from pg_trigger as t
where t.tgrelid = 'memory.import_batches'::regclass and t.tgname in (
  'audit',
  'refuse_change',
  'refuse_truncate',
  'refuse_unfinished'
);
rollback;
