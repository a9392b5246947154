-- Revert pymem:functions/vector_indexes from pg

begin;

drop index if exists memory.episodes_embedding_idx;
drop index if exists memory.facts_embedding_idx;
drop index if exists memory.rules_embedding_idx;
drop function memory.rebuild_vector_indexes(text);

commit;
