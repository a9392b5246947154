-- Revert pymem:functions/core/base/schedule from pg

begin;

drop function memory.is_schedule(text);

commit;
