-- Revert pymem:functions/core/store/entity_neighbors from pg

begin;

drop function memory.entity_neighbors(uuid,integer,integer);
drop function memory.edges_of_entities(text,uuid[]);

commit;
