-- Revert pymem:functions/reembedding from pg

begin;

drop function memory.switch_embedding_version();
drop function memory.cancel_reembedding();
drop function memory.start_reembedding(text, text, integer, float8, float8);
drop function memory.enqueue_missing_embeddings(text, uuid);

commit;
