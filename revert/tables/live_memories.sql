-- Revert pymem:tables/live_memories from pg

begin;

drop type memory.ranked_memory;
drop type memory.candidate;
drop view memory.live_memories;

commit;
