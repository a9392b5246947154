-- Verify pymem:functions/core/store/supersession on pg

begin;
select
  'memory.comes_late(timestamp with time zone,timestamp with time zone,timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.repeats_fact(memory.fact_to_store,memory.fact_to_store)'::regprocedure,
  'memory.is_same_fact(memory.facts,memory.fact_to_store)'::regprocedure,
  'memory.as_stored(memory.facts)'::regprocedure,
  'memory.confirm_repeated(text,uuid,text,uuid,timestamp with time zone)'::regprocedure,
  'memory.trust_of_episode(text,uuid)'::regprocedure,
  'memory.next_start(text,text,text,uuid,text,timestamp with time zone)'::regprocedure,
  'memory.end_earlier(text,text,text,uuid,text,timestamp with time zone[],timestamp with time zone)'::regprocedure,
  'memory.find_begun_plans(text,memory.fact_to_store[],timestamp with time zone)'::regprocedure,
  'memory.end_facts(text,uuid[],timestamp with time zone)'::regprocedure;
rollback;
