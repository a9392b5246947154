-- Revert pymem:functions/core/search/relations from pg

begin;

drop function memory.read_relations(text,text,memory.settings,boolean);
drop function memory.subjects_of_user(text,memory.settings);
drop function memory.restate_question(text);
drop function memory.naming_predicates();
drop function memory.synonyms_of(text,text);
drop function memory.key_words(text);

commit;
