-- Revert pymem:functions/core/search/keywords from pg

begin;

drop function memory.keyword_matches(text,text,tsquery,bigint[],bigint[],text,integer,double precision,timestamp with time zone);
drop function memory.bm25_matches(memory.corpus_size[],memory.keyword_query,text[],memory.word_match[],boolean,memory.settings,text,double precision,timestamp with time zone);
drop function memory.frequent_words(memory.corpus_size,tsquery[],boolean,text);
drop function memory.saturate_frequency(double precision,double precision,double precision,double precision);
drop function memory.inverse_document_frequency(bigint,bigint);
drop function memory.one_lexeme(text);
drop function memory.term_frequency(tsvector,tsquery);

commit;
