-- Revert pymem:tables/entries from pg

begin;

drop table memory.entry_consolidations;
drop table memory.entry_policies;
drop table memory.entry_numbers;
drop table memory.entries;

commit;
