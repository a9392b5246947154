-- Revert pymem:functions/core/search/corpus from pg

begin;

drop function memory.query_languages(memory.settings);
drop function memory.reindex_texts(integer);
drop function memory.reindex_batch(memory.settings,integer);
drop function memory.mark_for_reindexing(text,text);
drop function memory.lock_first_statistics(text);
drop function memory.recount_corpus_statistics();
drop function memory.fold_corpus_statistics();
drop function memory.lock_corpus_statistics();
drop function memory.corpus_sizes(text[]);
drop function memory.count_changed_text();
drop function memory.count_texts();
drop function memory.is_counted_state(text);
drop function memory.maybe_fold_deltas(text);
drop function memory.fold_corpus_deltas(text);
drop function memory.start_corpus_statistics(text);

commit;
