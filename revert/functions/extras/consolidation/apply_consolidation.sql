-- Revert pymem:functions/extras/consolidation/apply_consolidation from pg

begin;

drop function memory.list_consolidation_runs(text,integer,uuid);
drop function memory.apply_consolidation(uuid,jsonb,text,text,timestamp with time zone);
drop function memory.count_outcomes(text,uuid,text[],jsonb);
drop function memory.read_actions(jsonb);
drop function memory.try_action(memory.consolidation_runs,memory.settings,text,bigint,jsonb,timestamp with time zone);
drop function memory.apply_action(memory.consolidation_runs,memory.settings,text,jsonb,timestamp with time zone);
drop function memory.apply_fact(memory.consolidation_runs,memory.settings,jsonb,memory.facts,timestamp with time zone);
drop function memory.is_inferred(jsonb);
drop function memory.link_evidence(text,text,uuid,uuid[],text);
drop function memory.read_evidence(memory.consolidation_runs,jsonb);
drop function memory.consolidation_key(memory.consolidation_runs,text,text[]);

commit;
