-- Verify pymem:functions/core/search/candidates on pg

begin;
select
  'memory.normalize_name(text)'::regprocedure,
  'memory.recency_of(timestamp with time zone,timestamp with time zone,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.read_query(text,text,memory.settings)'::regprocedure,
  'memory.fuse_lists(text[],text,memory.keyword_query,public.vector,text,integer,double precision,integer,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.near_by_index(text[],public.vector,memory.word_match[],memory.word_match[])'::regprocedure,
  'memory.boost_episodes(memory.fused_candidate[],memory.settings)'::regprocedure,
  'memory.weigh_memories(text[],memory.keyword_query,public.vector,text,integer,double precision,memory.corpus_size[],memory.settings,timestamp with time zone)'::regprocedure,
  'memory.asks_for(memory.question,text,text,text)'::regprocedure,
  'memory.judge_candidates(memory.fused_candidate[],memory.question,bigint,double precision,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.list_candidates(text[],text,memory.relations,public.vector,text,integer,double precision,double precision,text,boolean,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
