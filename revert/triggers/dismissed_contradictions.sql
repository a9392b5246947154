-- Revert pymem:triggers/dismissed_contradictions from pg

begin;

drop trigger refuse_truncate on memory.dismissed_contradictions;
drop trigger audit on memory.dismissed_contradictions;

commit;
