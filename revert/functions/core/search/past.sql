-- Revert pymem:functions/core/search/past from pg

begin;

drop function memory.find_memories_at(text[],text,public.vector,text,integer,double precision,double precision,memory.settings,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.memories_at(text,text[],timestamp with time zone);

commit;
