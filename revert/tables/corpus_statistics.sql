-- Revert pymem:tables/corpus_statistics from pg

begin;

drop table memory.corpus_deltas;
drop table memory.corpus_statistics;

commit;
