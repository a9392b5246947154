-- Revert pymem:functions/links from pg

begin;

drop function memory.get_links(text, uuid, text, integer, timestamptz);
drop function memory.resolved_state(text, text, uuid, timestamptz);
drop function memory.create_link(text, uuid, text, uuid, text);

commit;
