-- Revert pymem:tables/episodes from pg

begin;

drop table memory.episodes;

commit;
