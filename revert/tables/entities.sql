-- Revert pymem:tables/entities from pg

begin;

drop table memory.entities;
drop function memory.prepare_entity();

commit;
