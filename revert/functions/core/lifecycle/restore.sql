-- Revert pymem:functions/core/lifecycle/restore from pg

begin;

drop function memory.restore_fact(memory.settings,uuid,timestamp with time zone);
drop function memory.restore_rule(memory.settings,uuid,timestamp with time zone);
drop function memory.restore_episode(memory.settings,uuid,timestamp with time zone);
drop function memory.restore_memory(text,uuid,timestamp with time zone);

commit;
