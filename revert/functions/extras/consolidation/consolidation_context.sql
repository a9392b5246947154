-- Revert pymem:functions/extras/consolidation/consolidation_context from pg

begin;

drop function memory.get_consolidation_context(text,integer,integer,uuid,timestamp with time zone);
drop function memory.pending_proposals(text,text,integer);
drop function memory.facts_of_names(memory.settings,text,uuid[],integer);
drop function memory.facts_by_meaning(memory.settings,text,uuid[],integer,timestamp with time zone);
drop function memory.facts_with_terms(bigint[],text,integer);
drop function memory.terms_of_episodes(memory.settings,uuid[]);
drop function memory.is_known_to(text,text,text);

commit;
