-- Revert pymem:functions/recall from pg

begin;

drop function memory.recall(
  text, text, integer, text [], float8, float8, vector, uuid, timestamptz, timestamptz,
  timestamptz
);
drop function memory.count_references(uuid [], uuid [], uuid [], timestamptz);
drop function memory.rank_memories(
  text, text, integer, text [], float8, float8, vector, uuid, timestamptz, timestamptz,
  timestamptz
);

commit;
