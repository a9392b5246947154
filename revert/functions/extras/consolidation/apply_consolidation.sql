-- Revert pymem:functions/extras/consolidation/apply_consolidation from pg

begin;

drop function memory.list_consolidation_runs(text,integer,uuid,timestamp with time zone,uuid);
drop function memory.apply_consolidation(uuid,jsonb,text,text,text,integer,integer,double precision,timestamp with time zone);
drop function memory.exceeded_bound(text,jsonb,bigint,text[]);
drop function memory.count_outcomes(text,uuid,text[],jsonb,integer);
drop function memory.read_actions(jsonb);
drop function memory.try_action(memory.consolidation_runs,memory.settings,text,bigint,bigint,jsonb,memory.consolidation_proposals,timestamp with time zone);
drop function memory.apply_action(memory.consolidation_runs,memory.settings,text,bigint,jsonb,memory.consolidation_proposals,timestamp with time zone);
drop function memory.lock_plans(memory.consolidation_runs,memory.planned_action[]);
drop function memory.facts_of_plans(memory.consolidation_runs,memory.planned_action[]);
drop function memory.plan_action(memory.consolidation_runs,memory.settings,text,jsonb,memory.consolidation_proposals,timestamp with time zone);
drop function memory.keep_proposal(memory.consolidation_runs,memory.planned_action,bigint,jsonb,timestamp with time zone);
drop function memory.proposal_key(memory.planned_action);
drop function memory.proposal_content(memory.planned_action);
drop function memory.carry_out(memory.consolidation_runs,memory.settings,memory.planned_action,timestamp with time zone);
drop function memory.end_fact(memory.consolidation_runs,uuid,timestamp with time zone,timestamp with time zone);
drop function memory.withdraw_rule(memory.consolidation_runs,uuid,timestamp with time zone);
drop function memory.store_planned_rule(memory.consolidation_runs,memory.planned_action,timestamp with time zone);
drop function memory.store_planned_fact(memory.consolidation_runs,memory.planned_action,timestamp with time zone);
drop function memory.link_evidence(text,text,uuid,uuid[],text);
drop function memory.consolidation_key(memory.consolidation_runs,text,text[]);

commit;
