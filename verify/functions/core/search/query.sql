-- Verify pymem:functions/core/search/query on pg

begin;
select
  'memory.find_matches(text[],text,memory.query_condition[],text[],text,public.vector,text,boolean,text,integer,double precision,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.query(text,text[],text,text,integer,boolean,double precision,public.vector,uuid,timestamp with time zone)'::regprocedure,
  'memory.retrieve_entries(text,text,integer,text,boolean,text[],jsonb,double precision,double precision,timestamp with time zone,timestamp with time zone,text[],boolean,text,double precision,public.vector,uuid,timestamp with time zone)'::regprocedure;
rollback;
