-- Revert pymem:functions/core/search/recall from pg

begin;

drop function memory.recall(text,text,integer,text[],double precision,double precision,public.vector,uuid,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.rank_memories(text,text,integer,text[],double precision,double precision,public.vector,uuid,timestamp with time zone,timestamp with time zone,timestamp with time zone);

commit;
