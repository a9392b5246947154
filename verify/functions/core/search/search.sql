-- Verify pymem:functions/core/search/search on pg

begin;
select
  'memory.refuse_limit(integer)'::regprocedure,
  'memory.check_limit(integer)'::regprocedure,
  'memory.compare_query_version(public.vector,uuid)'::regprocedure,
  'memory.check_query_embedding(public.vector,uuid)'::regprocedure,
  'memory.semantic_search(text,public.vector,text,integer,uuid,timestamp with time zone)'::regprocedure,
  'memory.keyword_search(text,text,text,integer,text,timestamp with time zone)'::regprocedure,
  'memory.hybrid_search(text,text,public.vector,text,integer,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.search(text,text[],text,text,integer,double precision,double precision,public.vector,uuid,timestamp with time zone)'::regprocedure,
  'memory.read_types(text[])'::regprocedure,
  'memory.check_types(text[])'::regprocedure,
  'memory.refuse_query(text)'::regprocedure,
  'memory.check_query(text)'::regprocedure,
  'memory.expand_query(text,text,timestamp with time zone)'::regprocedure;
rollback;
