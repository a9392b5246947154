-- Revert pymem:functions/keywords from pg

begin;

drop function memory.keyword_matches(
  text, text, tsquery, bigint [], bigint [], text, integer, float8, timestamptz
);
drop function memory.bm25_matches(
  memory.corpus_size [], memory.keyword_query, memory.settings, text, float8, timestamptz
);
drop function memory.saturate_frequency(float8, float8, float8, float8);
drop function memory.inverse_document_frequency(bigint, bigint);
drop function memory.one_lexeme(text);
drop type memory.keyword_query;
drop function memory.term_frequency(tsvector, tsquery);
revoke usage on type memory.settings, memory.word_match, memory.corpus_size from memory_search;

commit;
