-- Verify pymem:functions/extras/consolidation/undo_consolidation on pg

begin;
select
  'memory.is_fact_key_taken(memory.facts,uuid[])'::regprocedure,
  'memory.is_used_since(text,timestamp with time zone,timestamp with time zone,integer)'::regprocedure,
  'memory.end_of_fact_since(memory.facts,uuid[])'::regprocedure,
  'memory.undo_end_of_fact(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.lock_changes_of_run(memory.consolidation_runs)'::regprocedure,
  'memory.undo_consolidation(uuid,timestamp with time zone)'::regprocedure,
  'memory.undo_preview(uuid)'::regprocedure;
rollback;
