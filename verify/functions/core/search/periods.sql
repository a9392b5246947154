-- Verify pymem:functions/core/search/periods on pg

begin;
select
  'memory.day_of(integer,integer,integer)'::regprocedure,
  'memory.holiday_of(text,integer)'::regprocedure,
  'memory.unit_length(text)'::regprocedure,
  'memory.unit_days(text,integer,date)'::regprocedure,
  'memory.days_in_year(text,text,integer)'::regprocedure,
  'memory.last_occurrence(text,text,date)'::regprocedure,
  'memory.first_occurrence(text,text,date)'::regprocedure,
  'memory.nearest_days(text,text,text,date)'::regprocedure,
  'memory.part_of_days(daterange,text)'::regprocedure,
  'memory.nth_days(daterange,integer,text,text)'::regprocedure,
  'memory.read_number(text,text)'::regprocedure,
  'memory.read_time_words(text)'::regprocedure,
  'memory.read_times(text,text,text[],date)'::regprocedure,
  'memory.join_times(text,text,text)'::regprocedure,
  'memory.place_times(text,text,text[],text[],daterange[],date)'::regprocedure,
  'memory.read_period(text,text,timestamp with time zone)'::regprocedure;
rollback;
