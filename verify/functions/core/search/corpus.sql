-- Verify pymem:functions/core/search/corpus on pg

begin;
select
  'memory.start_corpus_statistics(text)'::regprocedure,
  'memory.fold_corpus_deltas(text)'::regprocedure,
  'memory.maybe_fold_deltas(text)'::regprocedure,
  'memory.is_counted_state(text)'::regprocedure,
  'memory.count_texts()'::regprocedure,
  'memory.count_changed_text()'::regprocedure,
  'memory.corpus_sizes(text[])'::regprocedure,
  'memory.lock_corpus_statistics()'::regprocedure,
  'memory.fold_corpus_statistics()'::regprocedure,
  'memory.recount_corpus_statistics()'::regprocedure,
  'memory.lock_first_statistics(text)'::regprocedure,
  'memory.mark_for_reindexing(text,text)'::regprocedure,
  'memory.reindex_batch(memory.settings,integer)'::regprocedure,
  'memory.reindex_texts(integer)'::regprocedure,
  'memory.query_languages(memory.settings)'::regprocedure;
rollback;
