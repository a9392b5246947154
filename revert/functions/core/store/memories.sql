-- Revert pymem:functions/core/store/memories from pg

begin;

drop function memory.lock_keys_of_facts(text,uuid[]);
drop function memory.refresh_memory_types();
drop function memory.check_after_creation(text,text,uuid,timestamp with time zone);
drop function memory.resolved_state(text,text,uuid,timestamp with time zone);
drop function memory.count_references(text[],uuid[],timestamp with time zone);
drop function memory.columns_of_memory(text,text,uuid);
drop function memory.hide_memory(text,text,uuid,timestamp with time zone);
drop function memory.renew_memory(memory.settings,text,uuid,timestamp with time zone,timestamp with time zone);
drop function memory.lock_memory(text,text,uuid);
drop function memory.memory_exists(text,text,uuid);
drop function memory.created_at_of(text,text,uuid);
drop function memory.refresh_memory_functions();
drop function memory.define_memory_function(text,text,text,text);
drop function memory.branch_by_type(text,text[]);

commit;
