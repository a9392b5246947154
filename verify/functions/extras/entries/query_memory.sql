-- Verify pymem:functions/extras/entries/query_memory on pg

begin;
select
  'memory.entries_in_scope(text,text,text,text,memory.approvals)'::regprocedure,
  'memory.rank_entries(uuid[],text,public.vector,integer,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.query_memory(text,text,text,text,integer,uuid,public.vector,uuid,timestamp with time zone)'::regprocedure;
rollback;
