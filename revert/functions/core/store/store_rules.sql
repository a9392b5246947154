-- Revert pymem:functions/core/store/store_rules from pg

begin;

drop function memory.store_rule(text,text,jsonb,double precision,double precision,text,uuid,jsonb,public.vector,uuid,text,timestamp with time zone);

commit;
