-- Verify pymem:functions/corpus on pg

begin;
select
  'memory.corpus_size'::regtype,
  'memory.corpus_sizes(text[])'::regprocedure,
  'memory.lock_corpus_statistics()'::regprocedure,
  'memory.fold_corpus_statistics()'::regprocedure,
  'memory.recount_corpus_statistics()'::regprocedure;
rollback;
