-- Revert pymem:functions/core/base/version from pg

begin;

drop function memory.version();

commit;
