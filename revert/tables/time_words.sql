-- Revert pymem:tables/time_words from pg

begin;

drop table memory.time_words;
drop function memory.words_of(text);
drop function memory.fold_words(text);

commit;
