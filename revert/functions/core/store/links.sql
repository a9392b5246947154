-- Revert pymem:functions/core/store/links from pg

begin;

drop function memory.get_links(text,uuid,text,integer,timestamp with time zone);
drop function memory.create_link(text,uuid,text,uuid,text);
drop function memory.lower_trust();
drop function memory.check_link_ends();

commit;
