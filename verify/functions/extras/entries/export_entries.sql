-- Verify pymem:functions/extras/entries/export_entries on pg

begin;
select
  'memory.export_entries(boolean,boolean,text,integer,timestamp with time zone)'::regprocedure;
rollback;
