-- Revert pymem:functions/settings from pg

begin;

drop function memory.configure(jsonb);
drop function memory.current_settings();
drop function memory.default_settings(text);

commit;
