-- Revert pymem:functions/core/search/periods from pg

begin;

drop function memory.read_period(text,text,timestamp with time zone);
drop function memory.place_times(text,text,text[],text[],daterange[],date);
drop function memory.join_times(text,text,text);
drop function memory.read_times(text,text,text[],date);
drop function memory.read_time_words(text);
drop function memory.read_number(text,text);
drop function memory.nth_days(daterange,integer,text,text);
drop function memory.part_of_days(daterange,text);
drop function memory.nearest_days(text,text,text,date);
drop function memory.first_occurrence(text,text,date);
drop function memory.last_occurrence(text,text,date);
drop function memory.days_in_year(text,text,integer);
drop function memory.unit_days(text,integer,date);
drop function memory.unit_length(text);
drop function memory.holiday_of(text,integer);
drop function memory.day_of(integer,integer,integer);

commit;
