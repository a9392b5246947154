-- Revert pymem:tables/time_words from pg

begin;

drop table memory.time_words;

commit;
