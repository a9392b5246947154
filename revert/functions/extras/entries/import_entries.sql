-- Revert pymem:functions/extras/entries/import_entries from pg

begin;

drop function memory.import_entries(jsonb,timestamp with time zone);
drop function memory.link_imports(text,memory.entry_to_import[]);
drop function memory.update_from_imports(text,memory.entry_to_import[],timestamp with time zone);
drop function memory.compare_imports(text,memory.entry_to_import[]);
drop function memory.create_imports(text,memory.entry_to_import[],timestamp with time zone);
drop function memory.relate_imports(text,memory.entry_to_import[]);
drop function memory.judge_imports(text,memory.entry_to_import[]);
drop function memory.differs_from_import(memory.entries,memory.entry_to_import);
drop function memory.metadata_of_import(jsonb,memory.entry_to_import,text);
drop function memory.take_entry_numbers(text,date[],integer[]);

commit;
