-- Verify pymem:types/operations on pg

begin;
select
  'memory.chain_problem'::regtype,
  'memory.finding'::regtype,
  'memory.planned_undo'::regtype;
rollback;
