-- Verify pymem:functions/core/search/past on pg

begin;
select
  'memory.memories_at(text,text[],timestamp with time zone)'::regprocedure,
  'memory.find_memories_at(text[],text,public.vector,text,integer,double precision,double precision,memory.settings,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure;
rollback;
