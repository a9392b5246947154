-- Revert pymem:functions/search from pg

begin;

drop function memory.check_query(text);
drop function memory.refuse_query(text);
drop function memory.check_types(text []);
drop function memory.read_types(text []);
drop function memory.search(
  text, text [], text, text, integer, float8, float8, vector, uuid, timestamptz
);
drop function memory.hybrid_search(text, text, vector, text, integer, text, uuid, timestamptz);
drop function memory.keyword_search(text, text, text, integer, text, timestamptz);
drop function memory.semantic_search(text, vector, text, integer, uuid, timestamptz);
drop function memory.check_query_embedding(vector, uuid);
drop function memory.compare_query_version(vector, uuid);
drop function memory.check_limit(integer);
drop function memory.refuse_limit(integer);

commit;
