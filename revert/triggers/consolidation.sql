-- Revert pymem:triggers/consolidation from pg

begin;

drop trigger refuse_truncate on memory.consolidation_runs;
drop trigger refuse_truncate on memory.consolidation_proposals;
drop trigger audit on memory.consolidation_proposals;

commit;
