-- Revert pymem:functions/core/search/candidates from pg

begin;

drop function memory.list_candidates(text[],text,memory.relations,public.vector,text,integer,double precision,double precision,text,boolean,memory.settings,timestamp with time zone);
drop function memory.judge_candidates(memory.fused_candidate[],memory.question,bigint,double precision,memory.settings,timestamp with time zone);
drop function memory.asks_for(memory.question,text,text,text);
drop function memory.weigh_memories(text[],memory.keyword_query,public.vector,text,integer,double precision,memory.corpus_size[],memory.settings,timestamp with time zone);
drop function memory.boost_episodes(memory.fused_candidate[],memory.settings);
drop function memory.near_by_index(text[],public.vector,memory.word_match[],memory.word_match[]);
drop function memory.fuse_lists(text[],text,memory.keyword_query,public.vector,text,integer,double precision,integer,memory.settings,timestamp with time zone);
drop function memory.read_query(text,text,memory.settings);
drop function memory.recency_of(timestamp with time zone,timestamp with time zone,memory.settings,timestamp with time zone);
drop function memory.normalize_name(text);

commit;
