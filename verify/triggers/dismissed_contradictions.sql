-- Verify pymem:triggers/dismissed_contradictions on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.dismissed_contradictions'::regclass and t.tgname in (
  'audit',
  'refuse_truncate'
);
rollback;
