-- Verify pymem:functions/core/store/store_rules on pg

begin;
select
  'memory.store_rule(text,text,jsonb,double precision,double precision,text,uuid,jsonb,public.vector,uuid,text,timestamp with time zone)'::regprocedure;
rollback;
