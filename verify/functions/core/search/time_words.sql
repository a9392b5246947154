-- Verify pymem:functions/core/search/time_words on pg

begin;
select
  'memory.refresh_time_questions()'::regprocedure,
  'memory.refresh_time_vocabulary()'::regprocedure,
  'memory.asks_ahead(text)'::regprocedure,
  'memory.asks_events(text)'::regprocedure,
  'memory.asks_happened(text)'::regprocedure,
  'memory.asks_past(text)'::regprocedure,
  'memory.asks_present(text)'::regprocedure,
  'memory.tells_update(text)'::regprocedure,
  'memory.may_name_time(text)'::regprocedure,
  'memory.time_vocabulary()'::regprocedure;
rollback;
