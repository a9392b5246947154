-- Verify pymem:functions/core/search/peek_memory on pg

begin;
select
  'memory.foresee_states(memory.listed_memories,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.peek_memory(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.decay_curve(text,uuid,timestamp with time zone,timestamp with time zone,integer,timestamp with time zone)'::regprocedure;
rollback;
