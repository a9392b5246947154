-- Revert pymem:functions/core/search/calendar from pg

begin;

drop function memory.nearest_days(text,text,text,date);
drop function memory.first_occurrence(text,text,date);
drop function memory.last_occurrence(text,text,date);
drop function memory.days_in_year(text,text,integer);
drop function memory.unit_days(text,integer,date);
drop function memory.unit_length(text);
drop function memory.holiday_of(text,integer);
drop function memory.day_of(integer,integer,integer);

commit;
