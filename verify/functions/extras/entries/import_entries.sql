-- Verify pymem:functions/extras/entries/import_entries on pg

begin;
select
  'memory.entry_file_mark(integer,double precision,boolean,timestamp with time zone,integer,timestamp with time zone,text[])'::regprocedure,
  'memory.read_import(jsonb,bigint,timestamp with time zone)'::regprocedure,
  'memory.is_entry_id(text)'::regprocedure,
  'memory.take_entry_numbers(text,date[],integer[])'::regprocedure,
  'memory.missing_related(text,text[],text[])'::regprocedure,
  'memory.metadata_of_import(jsonb,memory.entry_to_import,jsonb,text)'::regprocedure,
  'memory.differs_from_import(memory.entries,memory.entry_to_import)'::regprocedure,
  'memory.import_entries(jsonb,timestamp with time zone)'::regprocedure;
rollback;
