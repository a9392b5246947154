-- Verify pymem:functions/reembedding on pg

begin;
select
  'memory.enqueue_missing_embeddings(text, uuid)'::regprocedure,
  'memory.start_reembedding(text, text, integer, float8, float8)'::regprocedure,
  'memory.cancel_reembedding()'::regprocedure,
  'memory.switch_embedding_version()'::regprocedure;
rollback;
