-- Revert pymem:functions/extras/operations/plan_undo from pg

begin;

drop function memory.undo_preview_event(uuid,timestamp with time zone);
drop function memory.plan_review_undo(memory.planned_undo,memory.memory_events,timestamp with time zone);
drop function memory.plan_undo(memory.memory_events,boolean,uuid[],timestamp with time zone);
drop function memory.plan_simple_undo(memory.planned_undo,memory.memory_events);
drop function memory.plan_pattern_undo(memory.planned_undo,memory.memory_events);
drop function memory.plan_settings_undo(memory.planned_undo,memory.memory_events);
drop function memory.plan_amendment_undo(memory.planned_undo,memory.memory_events);
drop function memory.plan_merge_undo(memory.planned_undo,memory.memory_events);
drop function memory.plan_change_undo(memory.planned_undo,memory.memory_events,uuid[]);
drop function memory.plan_creation_undo(memory.planned_undo,memory.memory_events,uuid[],timestamp with time zone);
drop function memory.plan_reversal(memory.planned_undo,memory.memory_events,text,uuid,uuid[]);
drop function memory.block_undo(memory.planned_undo,text,text,text);
drop function memory.reversed_image(text,jsonb,jsonb);

commit;
