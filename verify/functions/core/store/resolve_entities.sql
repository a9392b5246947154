-- Verify pymem:functions/core/store/resolve_entities on pg

begin;
select
  'memory.find_names(text,text,text,boolean,integer)'::regprocedure,
  'memory.read_hints(jsonb)'::regprocedure,
  'memory.hint_overlap(text,uuid[],text[])'::regprocedure,
  'memory.entity_resolve(text,text,text,jsonb,boolean,integer)'::regprocedure;
rollback;
