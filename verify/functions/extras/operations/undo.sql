-- Verify pymem:functions/extras/operations/undo on pg

begin;
select
  'memory.lock_undo(text,memory.planned_undo)'::regprocedure,
  'memory.reverse_change(text,text,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.reopen_proposals(text,jsonb)'::regprocedure,
  'memory.carry_out_undo(text,memory.planned_undo,timestamp with time zone)'::regprocedure,
  'memory.undo_event(uuid,timestamp with time zone)'::regprocedure;
rollback;
