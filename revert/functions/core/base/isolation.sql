-- Revert pymem:functions/core/base/isolation from pg

begin;

drop function memory.isolate_table(name);

commit;
