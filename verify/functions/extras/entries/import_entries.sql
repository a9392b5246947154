-- Verify pymem:functions/extras/entries/import_entries on pg

begin;
select
  'memory.take_entry_numbers(text,date[],integer[])'::regprocedure,
  'memory.metadata_of_import(jsonb,memory.entry_to_import,text)'::regprocedure,
  'memory.differs_from_import(memory.entries,memory.entry_to_import)'::regprocedure,
  'memory.judge_imports(text,memory.entry_to_import[])'::regprocedure,
  'memory.relate_imports(text,memory.entry_to_import[])'::regprocedure,
  'memory.create_imports(text,memory.entry_to_import[],timestamp with time zone)'::regprocedure,
  'memory.compare_imports(text,memory.entry_to_import[])'::regprocedure,
  'memory.update_from_imports(text,memory.entry_to_import[],timestamp with time zone)'::regprocedure,
  'memory.link_imports(text,memory.entry_to_import[])'::regprocedure,
  'memory.import_entries(jsonb,timestamp with time zone)'::regprocedure;
rollback;
