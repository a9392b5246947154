-- Verify pymem:functions/extras/consolidation/apply_consolidation on pg

begin;
select
  'memory.consolidation_key(memory.consolidation_runs,text,text[])'::regprocedure,
  'memory.read_evidence(memory.consolidation_runs,jsonb)'::regprocedure,
  'memory.link_evidence(text,text,uuid,uuid[],text)'::regprocedure,
  'memory.is_inferred(jsonb)'::regprocedure,
  'memory.apply_fact(memory.consolidation_runs,memory.settings,jsonb,memory.facts,timestamp with time zone)'::regprocedure,
  'memory.apply_action(memory.consolidation_runs,memory.settings,text,jsonb,timestamp with time zone)'::regprocedure,
  'memory.try_action(memory.consolidation_runs,memory.settings,text,bigint,jsonb,timestamp with time zone)'::regprocedure,
  'memory.read_actions(jsonb)'::regprocedure,
  'memory.count_outcomes(text,uuid,text[],jsonb)'::regprocedure,
  'memory.apply_consolidation(uuid,jsonb,text,text,timestamp with time zone)'::regprocedure,
  'memory.list_consolidation_runs(text,integer,uuid)'::regprocedure;
rollback;
