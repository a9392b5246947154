-- Verify pymem:functions/settings on pg

begin;
select
  'memory.default_settings(text)'::regprocedure,
  'memory.current_settings()'::regprocedure,
  'memory.configure(jsonb)'::regprocedure;
rollback;
