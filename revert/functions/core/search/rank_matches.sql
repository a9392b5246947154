-- Revert pymem:functions/core/search/rank_matches from pg

begin;

drop function memory.rank_matches(text[],text,text,public.vector,text,text[],uuid[],uuid[],text[],boolean,boolean,text,integer,double precision,double precision,memory.settings,timestamp with time zone);
drop function memory.make_snippet(text,text,integer);

commit;
