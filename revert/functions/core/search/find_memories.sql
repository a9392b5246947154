-- Revert pymem:functions/core/search/find_memories from pg

begin;

drop function memory.find_memories(text[],text,text,public.vector,text,integer,double precision,double precision,text,boolean,boolean,memory.settings,timestamp with time zone);
drop function memory.former_facts(uuid[],tstzmultirange);
drop function memory.replaced_by_news(uuid);

commit;
