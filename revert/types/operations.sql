-- Revert pymem:types/operations from pg

begin;

drop type memory.planned_undo;
drop type memory.finding;
drop type memory.chain_problem;

commit;
