-- Verify pymem:functions/extras/conversations/store_observations on pg

begin;
select
  'memory.open_episodes(text,uuid[],timestamp with time zone)'::regprocedure,
  'memory.list_turns(uuid[],timestamp with time zone)'::regprocedure,
  'memory.store_observations(uuid[],jsonb,timestamp with time zone)'::regprocedure;
rollback;
