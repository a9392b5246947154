-- Revert pymem:functions/extras/operations/undo from pg

begin;

drop function memory.undo_event(uuid,timestamp with time zone);
drop function memory.carry_out_undo(text,memory.planned_undo,timestamp with time zone);
drop function memory.reopen_proposals(text,jsonb);
drop function memory.reverse_change(text,text,uuid,timestamp with time zone,timestamp with time zone);
drop function memory.lock_undo(text,memory.planned_undo);

commit;
