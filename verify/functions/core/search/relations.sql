-- Verify pymem:functions/core/search/relations on pg

begin;
select
  'memory.subjects_of_user(text,memory.settings)'::regprocedure,
  'memory.read_relations(text,text,memory.settings,boolean)'::regprocedure;
rollback;
