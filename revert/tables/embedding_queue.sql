-- Revert pymem:tables/embedding_queue from pg

begin;

drop table memory.staged_embeddings;
drop table memory.embedding_queue;

commit;
