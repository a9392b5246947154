-- Revert pymem:tables/episodes from pg

begin;

drop table memory.episodes;
drop function memory.prepare_episode();

commit;
