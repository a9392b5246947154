-- Verify pymem:functions/core/search/weigh_entries on pg

begin;
select
  'memory.near_among(text[],uuid[],public.vector,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.weigh_among(text[],uuid[],memory.keyword_query,public.vector,integer,memory.corpus_size[],memory.settings,timestamp with time zone)'::regprocedure,
  'memory.weigh_timely(memory.fused_candidate[],text[],memory.keyword_query,public.vector,text,integer,double precision,tstzmultirange,memory.corpus_size[],memory.settings,timestamp with time zone)'::regprocedure,
  'memory.list_aged(memory.keyword_query,public.vector,text,integer,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.tagged_entries(text[],text,integer,timestamp with time zone)'::regprocedure,
  'memory.follow_links(memory.linked_entry[],integer,text,timestamp with time zone)'::regprocedure;
rollback;
