-- Revert pymem:functions/past from pg

begin;

drop function memory.find_memories_at(
  text [], text, vector, text, integer, float8, float8, memory.settings, timestamptz, timestamptz,
  timestamptz
);
drop function memory.memories_at(text, text [], timestamptz);

commit;
