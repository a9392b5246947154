-- Revert pymem:functions/core/search/list_entities from pg

begin;

drop function memory.merge_preview(uuid,uuid);
drop function memory.merge_suggestions(text,integer);
drop function memory.similar_names(text[],text[]);
drop function memory.list_entities(text,text[],text[],text,integer);
drop function memory.count_facts_about(text,uuid);

commit;
