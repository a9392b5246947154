-- Verify pymem:functions/core/search/questions on pg

begin;
select
  'memory.read_question(memory.relations,memory.keyword_query,text,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
