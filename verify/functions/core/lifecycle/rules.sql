-- Verify pymem:functions/core/lifecycle/rules on pg

begin;
select
  'memory.check_application()'::regprocedure,
  'memory.count_application()'::regprocedure,
  'memory.promoted_maturity(memory.settings,text,bigint,double precision,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.demoted_maturity(memory.settings,text,double precision)'::regprocedure,
  'memory.mark_rule(uuid,text,text,jsonb,timestamp with time zone)'::regprocedure,
  'memory.mark_helpful(uuid,jsonb,timestamp with time zone)'::regprocedure,
  'memory.mark_harmful(uuid,text,jsonb,timestamp with time zone)'::regprocedure,
  'memory.replace_rule(uuid,text,jsonb,double precision,double precision,public.vector,uuid,text,timestamp with time zone)'::regprocedure;
rollback;
