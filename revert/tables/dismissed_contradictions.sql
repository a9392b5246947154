-- Revert pymem:tables/dismissed_contradictions from pg

begin;

drop table memory.dismissed_contradictions;

commit;
