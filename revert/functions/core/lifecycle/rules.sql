-- Revert pymem:functions/core/lifecycle/rules from pg

begin;

drop function memory.replace_rule(uuid,text,jsonb,double precision,double precision,public.vector,uuid,text,timestamp with time zone);
drop function memory.mark_harmful(uuid,text,jsonb,timestamp with time zone);
drop function memory.mark_helpful(uuid,jsonb,timestamp with time zone);
drop function memory.mark_rule(uuid,text,text,jsonb,timestamp with time zone);
drop function memory.demoted_maturity(memory.settings,text,double precision);
drop function memory.promoted_maturity(memory.settings,text,bigint,double precision,timestamp with time zone,timestamp with time zone);
drop function memory.count_application();
drop function memory.check_application();

commit;
