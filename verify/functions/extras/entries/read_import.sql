-- Verify pymem:functions/extras/entries/read_import on pg

begin;
select
  'memory.entry_file_mark(integer,double precision,boolean,timestamp with time zone,integer,timestamp with time zone,text[])'::regprocedure,
  'memory.is_entry_id(text)'::regprocedure,
  'memory.read_import(jsonb,bigint,timestamp with time zone)'::regprocedure;
rollback;
