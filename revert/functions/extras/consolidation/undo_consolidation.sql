-- Revert pymem:functions/extras/consolidation/undo_consolidation from pg

begin;

drop function memory.undo_consolidation(uuid,timestamp with time zone);

commit;
