-- Revert pymem:functions/contradictions from pg

begin;

drop function memory.contradictions(text, integer, timestamptz);
drop function memory.list_contradicted(text, uuid [], timestamptz);
drop function memory.live_memory(text, text, uuid, text, timestamptz);
drop function memory.near_duplicates(text, text);
drop function memory.loose_key(text);

commit;
