-- Verify pymem:functions/core/base/settings on pg

begin;
select
  'memory.refresh_setting_defaults()'::regprocedure,
  'memory.setting_defaults()'::regprocedure,
  'memory.default_settings(text)'::regprocedure,
  'memory.current_settings()'::regprocedure,
  'memory.text_search_config_of(text)'::regprocedure,
  'memory.refuse_settings(jsonb,jsonb,text)'::regprocedure,
  'memory.read_settings(jsonb,memory.settings)'::regprocedure,
  'memory.try_settings(memory.settings,jsonb)'::regprocedure,
  'memory.configure(jsonb)'::regprocedure,
  'memory.describe_settings()'::regprocedure,
  'memory.check_text_search_config(text)'::regprocedure,
  'memory.write_settings(memory.settings)'::regprocedure;
rollback;
