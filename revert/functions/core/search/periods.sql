-- Revert pymem:functions/core/search/periods from pg

begin;

drop function memory.read_former(text,memory.settings,timestamp with time zone);
drop function memory.read_period(text,text,timestamp with time zone);
drop function memory.place_times(text,text,text[],text[],daterange[],date,boolean);
drop function memory.join_times(text,text,text);
drop function memory.read_times(text,text,text[],date,boolean);
drop function memory.read_time_words(text);
drop function memory.read_number(text,text);
drop function memory.nth_days(daterange,integer,text,text);
drop function memory.part_of_days(daterange,text);

commit;
