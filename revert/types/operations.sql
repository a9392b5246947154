-- Revert pymem:types/operations from pg

begin;

drop type memory.finding;
drop type memory.chain_problem;

commit;
