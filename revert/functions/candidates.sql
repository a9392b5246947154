-- Revert pymem:functions/candidates from pg

begin;

drop function memory.find_memories(
  text [], text, text, vector, text, integer, float8, text, boolean, integer, memory.settings,
  timestamptz
);
drop function memory.boost_candidates(
  text [], text, memory.keyword_query, vector, text, integer, float8, memory.settings, timestamptz
);
drop function memory.fuse_lists(
  text [], text, memory.keyword_query, vector, text, integer, float8, memory.settings, timestamptz
);
drop function memory.read_query(text, text, memory.settings);
drop function memory.normalize_name(text);
drop type memory.keyword_query;
drop type memory.fused_candidate;

commit;
