-- Revert pymem:functions/context from pg

begin;

drop function memory.context_rule_line(text, text, float8);
drop function memory.context(text, text, integer, boolean, vector, uuid, timestamptz);
drop type memory.context_section;
drop function memory.one_line(text);

commit;
