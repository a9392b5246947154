-- Revert pymem:functions/core/search/relations from pg

begin;

drop function memory.read_relations(text,text,memory.settings,boolean);
drop function memory.subjects_of_user(text,memory.settings);

commit;
