-- Revert pymem:tables/transitions from pg

begin;

drop table memory.transitions;

commit;
