-- Revert pymem:functions/cleanup from pg

begin;

drop function memory.run_episode_cleanup(integer, integer, timestamptz);

commit;
