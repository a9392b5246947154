-- Revert pymem:tables/tombstones from pg

begin;

drop table memory.tombstones;

commit;
