-- Verify pymem:functions/core/search/relations on pg

begin;
select
  'memory.key_words(text)'::regprocedure,
  'memory.synonyms_of(text,text)'::regprocedure,
  'memory.add_names(text,text,memory.settings)'::regprocedure;
rollback;
