-- Revert pymem:functions/core/store/resolve_entities from pg

begin;

drop function memory.entity_resolve(text,text,text,jsonb,boolean,integer);
drop function memory.hint_overlap(text,uuid[],text[]);
drop function memory.read_hints(jsonb);
drop function memory.find_names(text,text,text,boolean,integer);

commit;
