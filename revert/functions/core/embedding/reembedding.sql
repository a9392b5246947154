-- Revert pymem:functions/core/embedding/reembedding from pg

begin;

drop function memory.activate_embedding_version();
drop function memory.cancel_reembedding();
drop function memory.start_reembedding(text,text,integer,double precision,double precision);
drop function memory.enqueue_missing_embeddings(text,uuid);

commit;
