-- Revert pymem:manifest from pg

begin;

-- What was recorded no longer applies once the changes before are reverted.
delete from memory.definitions;

commit;
