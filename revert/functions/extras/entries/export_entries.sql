-- Revert pymem:functions/extras/entries/export_entries from pg

begin;

drop function memory.export_entries(boolean,boolean,text,integer,timestamp with time zone);

commit;
