-- Revert pymem:functions/extras/operations/find_event from pg

begin;

drop function memory.principal_event(memory.memory_events,boolean);
drop function memory.endings_by_late_facts(memory.memory_events);
drop function memory.images_around(text,text,uuid,timestamp with time zone);
drop function memory.changed_memory(memory.memory_events);
drop function memory.events_of_write(memory.memory_events);
drop function memory.find_event(text,uuid);

commit;
