-- Revert pymem:functions/links from pg

begin;

drop function memory.get_links(text, uuid, text);
drop function memory.create_link(text, uuid, text, uuid, text);

commit;
