-- Revert pymem:triggers/events from pg

begin;

drop trigger refuse_truncate on memory.memory_events;
drop trigger refuse_change on memory.memory_events;
drop trigger assign_xid on memory.memory_events;

commit;
