-- Verify pymem:functions/extras/operations/plan_undo on pg

begin;
select
  'memory.reversed_image(text,jsonb,jsonb)'::regprocedure,
  'memory.block_undo(memory.planned_undo,text,text,text)'::regprocedure,
  'memory.plan_reversal(memory.planned_undo,memory.memory_events,text,uuid,uuid[])'::regprocedure,
  'memory.plan_creation_undo(memory.planned_undo,memory.memory_events,uuid[],timestamp with time zone)'::regprocedure,
  'memory.plan_change_undo(memory.planned_undo,memory.memory_events,uuid[])'::regprocedure,
  'memory.plan_merge_undo(memory.planned_undo,memory.memory_events)'::regprocedure,
  'memory.plan_amendment_undo(memory.planned_undo,memory.memory_events)'::regprocedure,
  'memory.plan_settings_undo(memory.planned_undo,memory.memory_events)'::regprocedure,
  'memory.plan_pattern_undo(memory.planned_undo,memory.memory_events)'::regprocedure,
  'memory.plan_simple_undo(memory.planned_undo,memory.memory_events)'::regprocedure,
  'memory.plan_undo(memory.memory_events,boolean,uuid[],timestamp with time zone)'::regprocedure,
  'memory.plan_review_undo(memory.planned_undo,memory.memory_events,timestamp with time zone)'::regprocedure,
  'memory.undo_preview_event(uuid,timestamp with time zone)'::regprocedure;
rollback;
