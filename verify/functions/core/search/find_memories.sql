-- Verify pymem:functions/core/search/find_memories on pg

begin;
select
  'memory.replaced_by_news(uuid)'::regprocedure,
  'memory.former_facts(uuid[],tstzmultirange)'::regprocedure,
  'memory.find_memories(text[],text,text,public.vector,text,integer,double precision,double precision,text,boolean,boolean,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
