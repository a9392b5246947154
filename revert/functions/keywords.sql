-- Revert pymem:functions/keywords from pg

begin;

drop function memory.keyword_matches(
  text, text, tsquery, bigint [], bigint [], text, integer, float8, timestamptz
);
drop function memory.bm25_matches(
  text, tsquery, text [], memory.settings, text, integer, float8, timestamptz
);
drop function memory.term_frequency(tsvector, tsquery);
revoke usage on type memory.settings from memory_search;

commit;
