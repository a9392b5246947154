-- Revert pymem:tables/definitions from pg

begin;

drop table memory.definitions;

commit;
