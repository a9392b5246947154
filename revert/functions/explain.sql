-- Revert pymem:functions/explain from pg

begin;

drop function memory.recall_explain(
  text, text, integer, text [], float8, float8, vector, uuid, timestamptz
);
drop type memory.explained_memory;
drop function memory.find_dropped(
  text [], text, vector, text, integer, float8, memory.settings, timestamptz
);

commit;
