-- Revert pymem:functions/core/audit/history from pg

begin;

drop function memory.replay_memory(text,uuid);
drop function memory.fact_history(uuid);

commit;
