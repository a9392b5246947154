-- Revert pymem:tables/entities from pg

begin;

drop table memory.entity_names;
drop table memory.entities;
drop function memory.write_names();
drop function memory.name_terms(text, text);
drop function memory.fold_name(text);
drop function memory.prepare_entity();

commit;
