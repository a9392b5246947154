-- Revert pymem:functions/vector_indexes from pg

begin;

drop index if exists memory.episodes_embedding_idx;
drop index if exists memory.facts_embedding_idx;
drop index if exists memory.rules_embedding_idx;
drop function memory.check_vector_recall(integer, integer, timestamptz);
drop function memory.time_neighbours(text, text, vector, integer, timestamptz);
drop function memory.rebuild_vector_indexes(text, integer);
drop function memory.vector_index_statements(text, integer);
drop function memory.choose_lists(bigint);
drop function memory.vector_indexes();
drop function memory.count_vectors(text);

commit;
