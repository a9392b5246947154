-- Revert pymem:functions/core/search/peek_memory from pg

begin;

drop function memory.decay_curve(text,uuid,timestamp with time zone,timestamp with time zone,integer,timestamp with time zone);
drop function memory.peek_memory(text,uuid,timestamp with time zone);
drop function memory.foresee_states(memory.listed_memories,memory.settings,timestamp with time zone);

commit;
