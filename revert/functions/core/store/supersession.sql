-- Revert pymem:functions/core/store/supersession from pg

begin;

drop function memory.end_facts(text,uuid[],timestamp with time zone);
drop function memory.find_begun_plans(text,memory.fact_to_store[],timestamp with time zone);
drop function memory.end_earlier(text,text,text,uuid,text,timestamp with time zone[],timestamp with time zone);
drop function memory.next_start(text,text,text,uuid,text,timestamp with time zone);
drop function memory.trust_of_episode(text,uuid);
drop function memory.confirm_repeated(text,uuid,text,uuid,timestamp with time zone);
drop function memory.as_stored(memory.facts);
drop function memory.is_same_fact(memory.facts,memory.fact_to_store);
drop function memory.repeats_fact(memory.fact_to_store,memory.fact_to_store);
drop function memory.comes_late(timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone);

commit;
