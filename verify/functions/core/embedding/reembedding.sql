-- Verify pymem:functions/core/embedding/reembedding on pg

begin;
select
  'memory.enqueue_missing_embeddings(text,uuid)'::regprocedure,
  'memory.start_reembedding(text,text,integer,double precision,double precision)'::regprocedure,
  'memory.cancel_reembedding()'::regprocedure,
  'memory.activate_embedding_version()'::regprocedure;
rollback;
