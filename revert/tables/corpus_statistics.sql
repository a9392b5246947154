-- Revert pymem:tables/corpus_statistics from pg

begin;

drop trigger count_changed_text on memory.rules;
drop trigger count_changed_text on memory.facts;
drop trigger count_changed_text on memory.episodes;
drop trigger count_deleted_texts on memory.rules;
drop trigger count_deleted_texts on memory.facts;
drop trigger count_deleted_texts on memory.episodes;
drop trigger count_stored_texts on memory.rules;
drop trigger count_stored_texts on memory.facts;
drop trigger count_stored_texts on memory.episodes;
drop function memory.count_changed_text();
drop function memory.count_texts();
drop function memory.try_fold(text);
drop function memory.fold_corpus_deltas(text);
drop function memory.start_corpus_statistics(text);
drop table memory.corpus_deltas;
drop table memory.corpus_statistics;

commit;
