-- Revert pymem:functions/extras/entries/undo_entry_merge from pg

begin;

drop function memory.undo_entry_merge(text,timestamp with time zone);

commit;
