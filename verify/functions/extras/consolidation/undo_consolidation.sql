-- Verify pymem:functions/extras/consolidation/undo_consolidation on pg

begin;
select
  'memory.is_fact_key_taken(memory.facts)'::regprocedure,
  'memory.undo_end_of_fact(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.undo_consolidation(uuid,timestamp with time zone)'::regprocedure;
rollback;
