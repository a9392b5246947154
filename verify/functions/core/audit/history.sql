-- Verify pymem:functions/core/audit/history on pg

begin;
select
  'memory.fact_history(uuid)'::regprocedure,
  'memory.replay_memory(text,uuid)'::regprocedure;
rollback;
