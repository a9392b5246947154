-- Revert pymem:functions/candidates from pg

begin;

drop function memory.find_memories(
  text [], text, text, vector, text, integer, float8, float8, text, boolean, boolean,
  memory.settings, timestamptz
);
drop function memory.list_candidates(
  text [], text, text, vector, text, integer, float8, float8, text, boolean, memory.settings,
  timestamptz
);
drop function memory.judge_candidates(
  memory.fused_candidate [], text, tstzmultirange, boolean, float8, float8, memory.settings
);
drop function memory.weigh_memories(
  text [], memory.keyword_query, vector, text, integer, float8, memory.corpus_size [],
  memory.settings, timestamptz
);
drop function memory.boost_episodes(memory.fused_candidate [], memory.settings);
drop function memory.near_by_index(
  text [], vector, memory.word_match [], text, integer, float8, integer, timestamptz
);
drop function memory.fuse_lists(
  text [], text, memory.keyword_query, vector, text, integer, float8, integer,
  memory.settings, timestamptz
);
drop function memory.read_query(text, text, memory.settings);
drop function memory.normalize_name(text);
drop type memory.fused_candidate;

commit;
