-- Revert pymem:functions/history from pg

begin;

drop function memory.replay_memory(text, uuid);
drop function memory.fact_history(uuid);

commit;
