-- Verify pymem:functions/core/search/related on pg

begin;
select
  'memory.list_related(text,uuid,integer,text[],text,integer,timestamp with time zone)'::regprocedure;
rollback;
