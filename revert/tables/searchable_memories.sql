-- Revert pymem:tables/searchable_memories from pg

begin;

drop type memory.ranked_memory;
drop type memory.word_match;
drop type memory.candidate;
drop view memory.searchable_memories;

commit;
