-- Revert pymem:functions/core/store/memories from pg

begin;

drop function memory.refresh_memory_types();
drop function memory.check_after_creation(text,text,uuid,timestamp with time zone);
drop function memory.count_references(text[],uuid[],timestamp with time zone);
drop function memory.resolved_state(text,text,uuid,timestamp with time zone);
drop function memory.memory_exists(text,text,uuid);
drop function memory.created_at_of(text,text,uuid);
drop function memory.refresh_memory_functions();

commit;
