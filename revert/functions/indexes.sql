-- Revert pymem:functions/indexes from pg

begin;

drop function memory.check_indexes();
drop function memory.expected_indexes();

commit;
