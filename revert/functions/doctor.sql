-- Revert pymem:functions/doctor from pg

begin;

drop function memory.doctor(boolean, timestamptz);
drop function memory.all_checks(text);

commit;
