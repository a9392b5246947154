-- Verify pymem:functions/core/lifecycle/lifecycle on pg

begin;
select
  'memory.confirm_observation(memory.settings,text,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.confirm_memory(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.forget_memory(text,uuid,timestamp with time zone)'::regprocedure,
  'memory.get_memory(text,uuid,timestamp with time zone)'::regprocedure;
rollback;
