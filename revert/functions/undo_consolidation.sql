-- Revert pymem:functions/undo_consolidation from pg

begin;

drop function memory.undo_consolidation(uuid, timestamptz);

commit;
