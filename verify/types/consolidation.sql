-- Verify pymem:types/consolidation on pg

begin;
select
  'memory.planned_action'::regtype;
rollback;
