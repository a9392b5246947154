-- Revert pymem:functions/core/embedding/embedding_queue from pg

begin;

drop function memory.requeue_embedding();
drop function memory.forget_embedding();
drop function memory.enqueue_embedding();

commit;
