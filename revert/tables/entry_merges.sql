-- Revert pymem:tables/entry_merges from pg

begin;

drop table memory.entry_merge_members;
drop table memory.entry_merges;
drop table memory.entry_comparisons;

commit;
