-- Revert pymem:functions/core/store/store_episodes from pg

begin;

drop function memory.store_episodes(jsonb,timestamp with time zone);
drop function memory.read_episodes(jsonb,timestamp with time zone);
drop function memory.store_episode(text,text,uuid,double precision,jsonb,public.vector,uuid,text,timestamp with time zone,text,timestamp with time zone);

commit;
