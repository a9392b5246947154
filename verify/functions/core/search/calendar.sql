-- Verify pymem:functions/core/search/calendar on pg

begin;
select
  'memory.day_of(integer,integer,integer)'::regprocedure,
  'memory.holiday_of(text,integer)'::regprocedure,
  'memory.unit_length(text)'::regprocedure,
  'memory.unit_days(text,integer,date)'::regprocedure,
  'memory.days_in_year(text,text,integer)'::regprocedure,
  'memory.last_occurrence(text,text,date)'::regprocedure,
  'memory.first_occurrence(text,text,date)'::regprocedure,
  'memory.nearest_days(text,text,text,date)'::regprocedure;
rollback;
