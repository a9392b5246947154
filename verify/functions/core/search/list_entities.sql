-- Verify pymem:functions/core/search/list_entities on pg

begin;
select
  'memory.count_facts_about(text,uuid)'::regprocedure,
  'memory.list_entities(text,text[],text[],text,integer)'::regprocedure,
  'memory.similar_names(text[],text[])'::regprocedure,
  'memory.merge_suggestions(text,integer)'::regprocedure,
  'memory.merge_preview(uuid,uuid)'::regprocedure;
rollback;
