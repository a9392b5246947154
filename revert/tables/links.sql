-- Revert pymem:tables/links from pg

begin;

drop table memory.memory_links;

commit;
