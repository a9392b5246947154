-- Verify pymem:functions/settings on pg

begin;
select
  'memory.default_settings(text)'::regprocedure,
  'memory.current_settings()'::regprocedure,
  'memory.configure(jsonb)'::regprocedure,
  'memory.check_text_search_config(text)'::regprocedure,
  'memory.write_settings(memory.settings)'::regprocedure;
rollback;
