-- Revert pymem:tables/tombstones from pg

begin;

drop trigger bury on memory.episodes;
drop function memory.bury_memories();
drop table memory.tombstones;

commit;
