-- Verify pymem:functions/core/base/words on pg

begin;
select
  'memory.fold_words(text)'::regprocedure,
  'memory.words_of(text)'::regprocedure,
  'memory.asks_of_self(text)'::regprocedure,
  'memory.use_past_forms(text)'::regprocedure,
  'memory.ends_with_question(text)'::regprocedure,
  'memory.share_that_asks(text)'::regprocedure,
  'memory.mostly_asks(double precision)'::regprocedure,
  'memory.asks_in_general(text)'::regprocedure;
rollback;
