-- Verify pymem:triggers/consolidation on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.consolidation_proposals'::regclass and t.tgname in (
  'audit',
  'refuse_truncate'
);
select 1 / (count(*) = 1)::integer
from pg_trigger as t
where t.tgrelid = 'memory.consolidation_runs'::regclass and t.tgname in (
  'refuse_truncate'
);
rollback;
