-- Verify pymem:functions/core/lifecycle/cleanup on pg

begin;
select
  'memory.close_reviews(text)'::regprocedure,
  'memory.run_episode_cleanup(integer,integer,timestamp with time zone)'::regprocedure;
rollback;
