-- Verify pymem:functions/time_words on pg

begin;
select
  'memory.tells_update(text)'::regprocedure,
  'memory.asks_present(text)'::regprocedure,
  'memory.may_name_time(text)'::regprocedure,
  'memory.time_vocabulary()'::regprocedure;
select 1 / (memory.time_vocabulary() ? 'monday')::integer;
rollback;
