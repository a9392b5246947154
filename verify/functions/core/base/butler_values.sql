-- Verify pymem:functions/core/base/butler_values on pg

begin;
select
  'memory.is_text_by_butler(jsonb)'::regprocedure,
  'memory.is_list_by_butler(jsonb)'::regprocedure,
  'memory.value_of_butler(jsonb,text)'::regprocedure;
rollback;
