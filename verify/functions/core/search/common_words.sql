-- Verify pymem:functions/core/search/common_words on pg

begin;
select
  'memory.common_words()'::regprocedure;
rollback;
