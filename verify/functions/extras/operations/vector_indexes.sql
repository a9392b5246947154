-- Verify pymem:functions/extras/operations/vector_indexes on pg

begin;
select
  'memory.count_vectors(text)'::regprocedure,
  'memory.vector_indexes()'::regprocedure,
  'memory.choose_lists(bigint)'::regprocedure,
  'memory.vector_index_statements(text,integer)'::regprocedure,
  'memory.choose_method(text)'::regprocedure,
  'memory.lock_for_rebuild(text)'::regprocedure,
  'memory.rebuild_vector_indexes(text,integer)'::regprocedure,
  'memory.time_neighbors(text,text,public.vector,integer,timestamp with time zone)'::regprocedure,
  'memory.measure_index_recall(integer,integer,timestamp with time zone)'::regprocedure;
rollback;
