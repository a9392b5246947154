-- Revert pymem:functions/related from pg

begin;

drop function memory.related(text, uuid, integer, text [], text, integer, timestamptz);
drop type memory.related_memory;

commit;
