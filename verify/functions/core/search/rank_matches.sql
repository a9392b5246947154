-- Verify pymem:functions/core/search/rank_matches on pg

begin;
select
  'memory.make_snippet(text,text,integer)'::regprocedure,
  'memory.rank_matches(text[],text,text,public.vector,text,text[],uuid[],uuid[],text[],boolean,boolean,text,integer,double precision,double precision,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
