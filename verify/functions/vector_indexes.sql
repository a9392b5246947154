-- Verify pymem:functions/vector_indexes on pg

begin;
select 'memory.rebuild_vector_indexes(text)'::regprocedure;
rollback;
