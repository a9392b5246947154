-- Revert pymem:tables/consolidation from pg

begin;

drop table memory.consolidation_runs;

commit;
