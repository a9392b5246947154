-- Revert pymem:functions/core/search/weigh_entries from pg

begin;

drop function memory.follow_links(memory.linked_entry[],integer,text,timestamp with time zone);
drop function memory.tagged_entries(text[],text,integer,timestamp with time zone);
drop function memory.list_aged(memory.keyword_query,public.vector,text,integer,memory.settings,timestamp with time zone);
drop function memory.weigh_timely(memory.fused_candidate[],text[],memory.keyword_query,public.vector,text,integer,double precision,tstzmultirange,memory.corpus_size[],memory.settings,timestamp with time zone);
drop function memory.weigh_among(text[],uuid[],memory.keyword_query,public.vector,integer,memory.corpus_size[],memory.settings,timestamp with time zone);
drop function memory.near_among(text[],uuid[],public.vector,memory.settings,timestamp with time zone);

commit;
