-- Revert pymem:functions/corpus from pg

begin;

drop function memory.fold_corpus_statistics();
drop function memory.corpus_size(text);

commit;
