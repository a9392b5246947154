-- Verify pymem:functions/extras/consolidation/undo_consolidation on pg

begin;
select
  'memory.undo_consolidation(uuid,timestamp with time zone)'::regprocedure;
rollback;
