-- Revert pymem:functions/core/base/schedule from pg

begin;

drop function memory.is_schedule(text);
drop function memory.schedule_pattern();
drop function memory.in_any_case(text);
drop function memory.crontab_field(text);

commit;
