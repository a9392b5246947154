-- Revert pymem:functions/extras/operations/vector_indexes from pg

begin;

drop function memory.measure_index_recall(integer,integer,timestamp with time zone);
drop function memory.time_neighbors(text,text,public.vector,integer,timestamp with time zone);
drop function memory.rebuild_vector_indexes(text,integer);
drop function memory.lock_for_rebuild(text);
drop function memory.choose_method(text);
drop function memory.vector_index_statements(text,integer);
drop function memory.choose_lists(bigint);
drop function memory.vector_indexes();
drop function memory.count_vectors(text);

commit;
