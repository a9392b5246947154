-- Verify pymem:functions/cleanup on pg

begin;
select 'memory.run_episode_cleanup(integer, integer, timestamptz)'::regprocedure;
rollback;
