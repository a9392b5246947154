-- Revert pymem:functions/core/lifecycle/lifecycle from pg

begin;

drop function memory.get_memory(text,uuid,timestamp with time zone);
drop function memory.forget_memory(text,uuid,timestamp with time zone);
drop function memory.confirm_memory(text,uuid,timestamp with time zone);
drop function memory.confirm_observation(memory.settings,text,uuid,timestamp with time zone,timestamp with time zone);

commit;
