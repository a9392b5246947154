-- Revert pymem:functions/extras/entries/read_import from pg

begin;

drop function memory.read_import(jsonb,bigint,timestamp with time zone);
drop function memory.is_entry_id(text);
drop function memory.entry_file_mark(integer,double precision,boolean,timestamp with time zone,integer,timestamp with time zone,text[]);

commit;
