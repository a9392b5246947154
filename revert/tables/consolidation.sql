-- Revert pymem:tables/consolidation from pg

begin;

drop table memory.consolidation_proposals;
drop table memory.consolidation_runs;

commit;
