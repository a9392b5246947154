-- Revert pymem:tables/entities from pg

begin;

drop table memory.entity_names;
drop table memory.entities;

commit;
