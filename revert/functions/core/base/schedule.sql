-- Revert pymem:functions/core/base/schedule from pg

begin;

drop function memory.next_run(text,timestamp with time zone);
drop function memory.crontab_values(text,integer,integer,text[]);
drop function memory.is_schedule(text);
drop function memory.schedule_pattern();
drop function memory.in_any_case(text);
drop function memory.crontab_field(text);

commit;
