-- Revert pymem:functions/extras/consolidation/classify_action from pg

begin;

drop function memory.classify_action(memory.consolidation_runs,memory.settings,text,jsonb,memory.consolidation_proposals,timestamp with time zone);
drop function memory.classify_confirmation(memory.planned_action,memory.facts,memory.rules);
drop function memory.classify_rule(memory.consolidation_runs,memory.settings,memory.planned_action,jsonb,memory.rules);
drop function memory.classify_fact(memory.consolidation_runs,memory.settings,memory.planned_action,jsonb,memory.facts,boolean,timestamp with time zone);
drop function memory.reason_to_review(memory.settings,jsonb,text,text,timestamp with time zone,memory.planned_action);
drop function memory.entity_of_name(text,text);
drop function memory.read_item_time(jsonb,text,text,timestamp with time zone);
drop function memory.read_evidence(memory.consolidation_runs,jsonb);
drop function memory.weigh_sources(text,uuid[]);
drop function memory.render_fact(text,text,text);
drop function memory.are_same_words(text,text);
drop function memory.is_inferred(jsonb);

commit;
