-- Revert pymem:tables/entities from pg

begin;

drop table memory.entities;

commit;
