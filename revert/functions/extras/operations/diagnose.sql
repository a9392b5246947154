-- Revert pymem:functions/extras/operations/diagnose from pg

begin;

drop function memory.diagnose(boolean,timestamp with time zone);
drop function memory.all_checks(text,timestamp with time zone);

commit;
