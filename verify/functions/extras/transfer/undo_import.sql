-- Verify pymem:functions/extras/transfer/undo_import on pg

begin;
select
  'memory.list_imports(integer,timestamp with time zone,uuid)'::regprocedure,
  'memory.classify_imported(text,uuid)'::regprocedure,
  'memory.take_back(text,text,uuid[],timestamp with time zone)'::regprocedure,
  'memory.undo_import(text,timestamp with time zone)'::regprocedure;
rollback;
