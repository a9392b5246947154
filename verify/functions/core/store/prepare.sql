-- Verify pymem:functions/core/store/prepare on pg

begin;
select
  'memory.check_vector()'::regprocedure,
  'memory.trust_rank(text)'::regprocedure,
  'memory.least_trust(text,text)'::regprocedure,
  'memory.prepare_episode()'::regprocedure,
  'memory.prepare_entity()'::regprocedure,
  'memory.write_names()'::regprocedure,
  'memory.prepare_fact()'::regprocedure,
  'memory.prepare_rule()'::regprocedure,
  'memory.render_entry(text,jsonb,jsonb)'::regprocedure,
  'memory.prepare_entry()'::regprocedure,
  'memory.guard_entry()'::regprocedure,
  'memory.keep_counters()'::regprocedure,
  'memory.comes_after(text,uuid,uuid)'::regprocedure,
  'memory.refuse_cycle()'::regprocedure;
rollback;
