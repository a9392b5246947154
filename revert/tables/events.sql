-- Revert pymem:tables/events from pg

begin;

drop table memory.memory_events;

commit;
