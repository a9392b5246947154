-- Verify pymem:functions/core/search/recall on pg

begin;
select
  'memory.rank_memories(text,text,integer,text[],double precision,double precision,public.vector,uuid,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.recall(text,text,integer,text[],double precision,double precision,public.vector,uuid,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure;
rollback;
