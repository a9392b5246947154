-- Revert pymem:functions/candidates from pg

begin;

drop function memory.find_memories(
  text [], text, text, vector, text, integer, float8, text, boolean, integer, memory.settings,
  timestamptz
);
drop function memory.boost_candidates(
  text [], text, vector, text, integer, float8, text, memory.settings, timestamptz
);
drop function memory.fuse_lists(
  text [], text, text, vector, text, integer, float8, text, memory.settings, timestamptz
);
drop function memory.normalize_name(text);
drop type memory.fused_candidate;

commit;
