-- Revert pymem:functions/corpus from pg

begin;

drop function memory.recount_corpus_statistics();
drop function memory.fold_corpus_statistics();
drop function memory.lock_corpus_statistics();
drop function memory.corpus_sizes(text []);
drop type memory.corpus_size;

commit;
