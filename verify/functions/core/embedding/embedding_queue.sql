-- Verify pymem:functions/core/embedding/embedding_queue on pg

begin;
select
  'memory.enqueue_embedding()'::regprocedure,
  'memory.forget_embedding()'::regprocedure,
  'memory.requeue_embedding()'::regprocedure;
rollback;
