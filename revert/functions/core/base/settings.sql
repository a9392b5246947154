-- Revert pymem:functions/core/base/settings from pg

begin;

drop function memory.write_settings(memory.settings);
drop function memory.check_text_search_config(text);
drop function memory.describe_settings();
drop function memory.configure(jsonb);
drop function memory.try_settings(memory.settings,jsonb);
drop function memory.read_settings(jsonb,memory.settings);
drop function memory.refuse_settings(jsonb,jsonb,text);
drop function memory.text_search_config_of(text);
drop function memory.current_settings();
drop function memory.default_settings(text);
drop function memory.setting_defaults();
drop function memory.refresh_setting_defaults();

commit;
