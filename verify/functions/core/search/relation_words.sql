-- Verify pymem:functions/core/search/relation_words on pg

begin;
select
  'memory.key_words(text)'::regprocedure,
  'memory.synonyms_of(text,text)'::regprocedure,
  'memory.naming_predicates()'::regprocedure,
  'memory.restate_question(text)'::regprocedure,
  'memory.ends_property(text)'::regprocedure,
  'memory.read_possessions(text[])'::regprocedure,
  'memory.read_properties(text[])'::regprocedure;
rollback;
