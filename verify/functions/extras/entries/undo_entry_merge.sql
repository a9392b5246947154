-- Verify pymem:functions/extras/entries/undo_entry_merge on pg

begin;
select
  'memory.undo_entry_merge(text,timestamp with time zone)'::regprocedure;
rollback;
