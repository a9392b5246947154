-- Verify pymem:functions/core/store/store_episodes on pg

begin;
select
  'memory.store_episode(text,text,uuid,double precision,jsonb,public.vector,uuid,text,timestamp with time zone,text,timestamp with time zone)'::regprocedure,
  'memory.read_episodes(jsonb,timestamp with time zone)'::regprocedure,
  'memory.store_episodes(jsonb,timestamp with time zone)'::regprocedure;
rollback;
