-- Revert pymem:functions/core/lifecycle/cleanup from pg

begin;

drop function memory.run_episode_cleanup(integer,integer,timestamp with time zone);
drop function memory.close_reviews(text);

commit;
