-- Verify pymem:functions/extras/consolidation/classify_action on pg

begin;
select
  'memory.is_inferred(jsonb)'::regprocedure,
  'memory.are_same_words(text,text)'::regprocedure,
  'memory.render_fact(text,text,text)'::regprocedure,
  'memory.weigh_sources(text,uuid[])'::regprocedure,
  'memory.read_evidence(memory.consolidation_runs,jsonb)'::regprocedure,
  'memory.read_item_time(jsonb,text,text,timestamp with time zone)'::regprocedure,
  'memory.entity_of_name(text,text)'::regprocedure,
  'memory.reason_to_review(memory.settings,jsonb,text,text,timestamp with time zone,memory.planned_action)'::regprocedure,
  'memory.classify_fact(memory.consolidation_runs,memory.settings,memory.planned_action,jsonb,memory.facts,boolean,timestamp with time zone)'::regprocedure,
  'memory.classify_rule(memory.consolidation_runs,memory.settings,memory.planned_action,jsonb,memory.rules)'::regprocedure,
  'memory.classify_confirmation(memory.planned_action,memory.facts,memory.rules)'::regprocedure,
  'memory.classify_action(memory.consolidation_runs,memory.settings,text,jsonb,memory.consolidation_proposals,timestamp with time zone)'::regprocedure;
rollback;
