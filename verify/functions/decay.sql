-- Verify pymem:functions/decay on pg

begin;
select
  'memory.decayed_state(float8, float8, float8)'::regprocedure,
  'memory.run_decay_sweep(timestamptz)'::regprocedure,
  'memory.due_facts(memory.settings, timestamptz)'::regprocedure,
  'memory.due_rules(memory.settings, timestamptz)'::regprocedure,
  'memory.sweep_facts(memory.settings, timestamptz)'::regprocedure,
  'memory.sweep_rules(memory.settings, timestamptz)'::regprocedure,
  'memory.run_decay_sweep_all_tenants(timestamptz)'::regprocedure;
rollback;
