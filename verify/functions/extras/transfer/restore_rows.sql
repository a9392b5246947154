-- Verify pymem:functions/extras/transfer/restore_rows on pg

begin;
select
  'memory.current_restore()'::regprocedure,
  'memory.start_restore(jsonb,text)'::regprocedure,
  'memory.check_batch_name(text,text,uuid)'::regprocedure,
  'memory.restore_vectors(jsonb[])'::regprocedure,
  'memory.restore_kind(uuid,text,jsonb[],bigint[])'::regprocedure,
  'memory.restore_rows(text[])'::regprocedure,
  'memory.append_restored_events(text,uuid)'::regprocedure,
  'memory.append_history_events(text,uuid)'::regprocedure,
  'memory.check_restored(text,uuid)'::regprocedure,
  'memory.finish_restore()'::regprocedure;
rollback;
