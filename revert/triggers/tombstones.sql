-- Revert pymem:triggers/tombstones from pg

begin;

drop trigger refuse_truncate on memory.tombstones;
drop trigger refuse_change on memory.tombstones;

commit;
