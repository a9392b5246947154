-- Revert pymem:tables/embedding_queue from pg

begin;

drop trigger requeue_embedding on memory.rules;
drop function memory.requeue_embedding();
drop trigger forget_embedding on memory.rules;
drop trigger forget_embedding on memory.facts;
drop trigger forget_embedding on memory.episodes;
drop function memory.forget_embedding();
drop trigger enqueue_embedding on memory.rules;
drop trigger enqueue_embedding on memory.facts;
drop trigger enqueue_embedding on memory.episodes;
drop function memory.enqueue_embedding();
drop table memory.staged_embeddings;
drop table memory.embedding_queue;

commit;
