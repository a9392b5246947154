-- Revert pymem:functions/core/search/explain from pg

begin;

drop function memory.recall_explain(text,text,integer,text[],double precision,double precision,public.vector,uuid,jsonb,timestamp with time zone,timestamp with time zone,timestamp with time zone);
drop function memory.find_dropped(text[],text,public.vector,text,integer,double precision,memory.settings,timestamp with time zone);

commit;
