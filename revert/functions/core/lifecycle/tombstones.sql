-- Revert pymem:functions/core/lifecycle/tombstones from pg

begin;

drop function memory.create_tombstones();

commit;
