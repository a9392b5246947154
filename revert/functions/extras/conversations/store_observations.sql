-- Revert pymem:functions/extras/conversations/store_observations from pg

begin;

drop function memory.store_observations(uuid[],jsonb,timestamp with time zone);
drop function memory.list_turns(uuid[],timestamp with time zone);
drop function memory.open_episodes(text,uuid[],timestamp with time zone);

commit;
