-- Verify pymem:functions/core/lifecycle/decay on pg

begin;
select
  'memory.decayed_state(double precision,double precision,double precision)'::regprocedure,
  'memory.begin_plans(text,uuid[],timestamp with time zone,uuid[],timestamp with time zone)'::regprocedure,
  'memory.begin_planned_facts(memory.settings,timestamp with time zone)'::regprocedure,
  'memory.run_decay_sweep(timestamp with time zone)'::regprocedure,
  'memory.state_expression(text)'::regprocedure,
  'memory.due_memories(text,memory.settings,timestamp with time zone)'::regprocedure,
  'memory.sweep_memories(text,uuid[],memory.settings,timestamp with time zone)'::regprocedure,
  'memory.run_decay_sweep_all_tenants(timestamp with time zone)'::regprocedure;
rollback;
