-- Revert pymem:types/consolidation from pg

begin;

drop type memory.planned_action;

commit;
