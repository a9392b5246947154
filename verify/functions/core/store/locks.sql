-- Verify pymem:functions/core/store/locks on pg

begin;
select
  'memory.lock_fact_key(text,text,text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.facts_of_key(text,text,text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.lock_entities(text,uuid[],text)'::regprocedure,
  'memory.lock_entities_of_facts(text,uuid[],uuid[])'::regprocedure,
  'memory.lock_sources(text,uuid[],text)'::regprocedure;
rollback;
