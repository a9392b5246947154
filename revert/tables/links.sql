-- Revert pymem:tables/links from pg

begin;

drop table memory.memory_links;
drop function memory.check_link_ends();
drop function memory.lower_trust();
drop function memory.memory_exists(text, text, uuid);

commit;
