-- Revert pymem:functions/context from pg

begin;

drop function memory.context(text, text, integer, boolean, float8, vector, uuid, timestamptz);
drop type memory.context_line;
drop function memory.shorten_text(text, integer, text);
drop function memory.count_room(text, text);
drop function memory.one_line(text);

commit;
