-- Revert pymem:tables/episodes from pg

begin;

drop table memory.episodes;
drop function memory.prepare_episode();
drop function memory.least_trust(text, text);

commit;
