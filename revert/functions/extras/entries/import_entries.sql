-- Revert pymem:functions/extras/entries/import_entries from pg

begin;

drop function memory.import_entries(jsonb,timestamp with time zone);
drop function memory.differs_from_import(memory.entries,memory.entry_to_import);
drop function memory.metadata_of_import(jsonb,memory.entry_to_import,jsonb,text);
drop function memory.missing_related(text,text[],text[]);
drop function memory.take_entry_numbers(text,date[],integer[]);
drop function memory.is_entry_id(text);
drop function memory.read_import(jsonb,bigint,timestamp with time zone);
drop function memory.entry_file_mark(integer,double precision,boolean,timestamp with time zone,integer,timestamp with time zone,text[]);

commit;
