-- Verify pymem:functions/core/search/relations on pg

begin;
select
  'memory.key_words(text)'::regprocedure,
  'memory.synonyms_of(text,text)'::regprocedure,
  'memory.naming_predicates()'::regprocedure,
  'memory.restate_question(text)'::regprocedure,
  'memory.subjects_of_user(text,memory.settings)'::regprocedure,
  'memory.read_relations(text,text,memory.settings,boolean)'::regprocedure;
rollback;
