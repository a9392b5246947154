-- Revert pymem:functions/core/store/locks from pg

begin;

drop function memory.lock_sources(text,uuid[],text);
drop function memory.lock_entities_of_facts(text,uuid[],uuid[]);
drop function memory.lock_entities(text,uuid[],text);
drop function memory.facts_of_key(text,text,text,uuid,text,timestamp with time zone);
drop function memory.lock_fact_key(text,text,text,uuid,text,timestamp with time zone);

commit;
