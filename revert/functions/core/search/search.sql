-- Revert pymem:functions/core/search/search from pg

begin;

drop function memory.expand_query(text,text,timestamp with time zone);
drop function memory.check_query(text);
drop function memory.refuse_query(text);
drop function memory.check_types(text[]);
drop function memory.read_types(text[]);
drop function memory.search(text,text[],text,text,integer,double precision,double precision,public.vector,uuid,timestamp with time zone);
drop function memory.hybrid_search(text,text,public.vector,text,integer,text,uuid,timestamp with time zone);
drop function memory.keyword_search(text,text,text,integer,text,timestamp with time zone);
drop function memory.semantic_search(text,public.vector,text,integer,uuid,timestamp with time zone);
drop function memory.check_query_embedding(public.vector,uuid);
drop function memory.compare_query_version(public.vector,uuid);
drop function memory.check_limit(integer);
drop function memory.refuse_limit(integer);

commit;
