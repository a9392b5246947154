-- Revert pymem:functions/core/store/store_facts from pg

begin;

drop function memory.store_facts(jsonb,uuid,timestamp with time zone);
drop function memory.insert_facts(text,memory.fact_to_store[],uuid[],uuid[],bigint[],uuid,timestamp with time zone);
drop function memory.lock_active_facts(text,memory.fact_to_store[],uuid[],timestamp with time zone);
drop function memory.lock_for_facts(text,memory.fact_to_store[],uuid,timestamp with time zone);
drop function memory.check_facts(memory.fact_to_store[]);
drop function memory.read_facts(jsonb,timestamp with time zone);
drop function memory.store_fact(text,text,text,double precision,text,text,jsonb,uuid,double precision,text,uuid,jsonb,public.vector,uuid,text,timestamp with time zone,timestamp with time zone,uuid,timestamp with time zone);

commit;
