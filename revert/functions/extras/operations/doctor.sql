-- Revert pymem:functions/extras/operations/doctor from pg

begin;

drop function memory.doctor(boolean,timestamp with time zone);
drop function memory.all_checks(text);

commit;
