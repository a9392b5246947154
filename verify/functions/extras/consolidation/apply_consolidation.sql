-- Verify pymem:functions/extras/consolidation/apply_consolidation on pg

begin;
select
  'memory.consolidation_key(memory.consolidation_runs,text,text[])'::regprocedure,
  'memory.link_evidence(text,text,uuid,uuid[],text)'::regprocedure,
  'memory.store_planned_fact(memory.consolidation_runs,memory.planned_action,timestamp with time zone)'::regprocedure,
  'memory.store_planned_rule(memory.consolidation_runs,memory.planned_action,timestamp with time zone)'::regprocedure,
  'memory.withdraw_rule(memory.consolidation_runs,uuid,timestamp with time zone)'::regprocedure,
  'memory.end_fact(memory.consolidation_runs,uuid,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.carry_out(memory.consolidation_runs,memory.settings,memory.planned_action,timestamp with time zone)'::regprocedure,
  'memory.proposal_content(memory.planned_action)'::regprocedure,
  'memory.proposal_key(memory.planned_action)'::regprocedure,
  'memory.keep_proposal(memory.consolidation_runs,memory.planned_action,bigint,jsonb,timestamp with time zone)'::regprocedure,
  'memory.plan_action(memory.consolidation_runs,memory.settings,text,jsonb,memory.consolidation_proposals,timestamp with time zone)'::regprocedure,
  'memory.facts_of_plans(memory.consolidation_runs,memory.planned_action[])'::regprocedure,
  'memory.lock_plans(memory.consolidation_runs,memory.planned_action[])'::regprocedure,
  'memory.apply_action(memory.consolidation_runs,memory.settings,text,bigint,jsonb,memory.consolidation_proposals,timestamp with time zone)'::regprocedure,
  'memory.try_action(memory.consolidation_runs,memory.settings,text,bigint,bigint,jsonb,memory.consolidation_proposals,timestamp with time zone)'::regprocedure,
  'memory.read_actions(jsonb)'::regprocedure,
  'memory.count_outcomes(text,uuid,text[],jsonb,integer)'::regprocedure,
  'memory.exceeded_bound(text,jsonb,bigint,text[])'::regprocedure,
  'memory.apply_consolidation(uuid,jsonb,text,text,text,integer,integer,double precision,timestamp with time zone)'::regprocedure,
  'memory.list_consolidation_runs(text,integer,uuid,timestamp with time zone,uuid)'::regprocedure;
rollback;
