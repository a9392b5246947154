-- Verify pymem:functions/core/lifecycle/erasure on pg

begin;
select
  'memory.find_subject(text,text,boolean)'::regprocedure,
  'memory.lock_subject(text,text,boolean)'::regprocedure,
  'memory.find_traces(text,memory.subject_traces,boolean)'::regprocedure,
  'memory.find_next_turns(text,uuid[])'::regprocedure,
  'memory.lock_traces(text,memory.subject_traces)'::regprocedure,
  'memory.find_outcomes(text,memory.subject_traces,boolean)'::regprocedure,
  'memory.memories_of(memory.subject_traces)'::regprocedure,
  'memory.concerns_subject(memory.consolidation_proposals,memory.subject_traces,boolean)'::regprocedure,
  'memory.count_traces(text,memory.subject_traces,boolean)'::regprocedure,
  'memory.delete_traces(text,memory.subject_traces,memory.fact_keys[],boolean)'::regprocedure,
  'memory.embed_next_turns(text,memory.subject_traces)'::regprocedure,
  'memory.erase_subject(text,boolean,boolean)'::regprocedure,
  'memory.verify_erasure(text)'::regprocedure;
rollback;
