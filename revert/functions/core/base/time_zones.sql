-- Revert pymem:functions/core/base/time_zones from pg

begin;

drop function memory.check_time_zone(text,text);
drop function memory.refuse_time_zone(text,text);
drop function memory.is_time_zone(text);

commit;
