-- Verify pymem:functions/undo_consolidation on pg

begin;
select
  'memory.undo_consolidation(uuid, timestamptz)'::regprocedure;
rollback;
