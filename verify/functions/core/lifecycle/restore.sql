-- Verify pymem:functions/core/lifecycle/restore on pg

begin;
select
  'memory.restore_memory(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.restore_episode(memory.settings,uuid,timestamp with time zone)'::regprocedure,
  'memory.restore_rule(memory.settings,uuid,timestamp with time zone)'::regprocedure,
  'memory.restore_fact(memory.settings,uuid,timestamp with time zone)'::regprocedure;
rollback;
