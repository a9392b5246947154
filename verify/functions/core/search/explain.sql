-- Verify pymem:functions/core/search/explain on pg

begin;
select
  'memory.find_dropped(text[],text,public.vector,text,integer,double precision,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.recall_explain(text,text,integer,text[],double precision,double precision,public.vector,uuid,jsonb,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure;
rollback;
