-- Verify pymem:functions/extras/operations/find_event on pg

begin;
select
  'memory.find_event(text,uuid)'::regprocedure,
  'memory.events_of_write(memory.memory_events)'::regprocedure,
  'memory.changed_memory(memory.memory_events)'::regprocedure,
  'memory.images_around(text,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.endings_by_late_facts(memory.memory_events)'::regprocedure,
  'memory.principal_event(memory.memory_events,boolean)'::regprocedure;
rollback;
