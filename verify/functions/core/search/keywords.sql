-- Verify pymem:functions/core/search/keywords on pg

begin;
select
  'memory.term_frequency(tsvector,tsquery)'::regprocedure,
  'memory.one_lexeme(text)'::regprocedure,
  'memory.inverse_document_frequency(bigint,bigint)'::regprocedure,
  'memory.saturate_frequency(double precision,double precision,double precision,double precision)'::regprocedure,
  'memory.frequent_words(memory.corpus_size,tsquery[],boolean,text)'::regprocedure,
  'memory.bm25_matches(memory.corpus_size[],memory.keyword_query,text[],memory.word_match[],boolean,memory.settings,text,double precision,timestamp with time zone)'::regprocedure,
  'memory.keyword_matches(text,text,tsquery,bigint[],bigint[],text,integer,double precision,timestamp with time zone)'::regprocedure;
rollback;
