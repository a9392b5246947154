-- Verify pymem:functions/core/search/periods on pg

begin;
select
  'memory.part_of_days(daterange,text)'::regprocedure,
  'memory.nth_days(daterange,integer,text,text)'::regprocedure,
  'memory.read_number(text,text)'::regprocedure,
  'memory.read_time_words(text)'::regprocedure,
  'memory.read_times(text,text,text[],date,boolean)'::regprocedure,
  'memory.join_times(text,text,text)'::regprocedure,
  'memory.place_times(text,text,text[],text[],daterange[],date,boolean)'::regprocedure,
  'memory.read_period(text,text,timestamp with time zone)'::regprocedure,
  'memory.read_former(text,memory.settings,timestamp with time zone)'::regprocedure;
rollback;
