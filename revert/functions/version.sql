-- Revert pymem:functions/version from pg

begin;

drop function memory.version();

commit;
