-- Revert pymem:functions/extras/operations/indexes from pg

begin;

drop function memory.check_indexes();
drop function memory.expected_indexes();
drop function memory.refresh_expected_indexes();

commit;
