-- Revert pymem:functions/core/search/relation_words from pg

begin;

drop function memory.read_properties(text[]);
drop function memory.read_possessions(text[]);
drop function memory.ends_property(text);
drop function memory.restate_question(text);
drop function memory.naming_predicates();
drop function memory.synonyms_of(text,text);
drop function memory.key_words(text);

commit;
