-- Verify pymem:functions/core/lifecycle/erasure on pg

begin;
select
  'memory.mentions_any(text,text[])'::regprocedure,
  'memory.names_of_subject(text,text)'::regprocedure,
  'memory.is_key_of(memory.fact_keys,text[],uuid[],boolean)'::regprocedure,
  'memory.erase_subject(text,boolean,boolean)'::regprocedure,
  'memory.verify_erasure(text)'::regprocedure;
rollback;
