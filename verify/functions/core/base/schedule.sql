-- Verify pymem:functions/core/base/schedule on pg

begin;
select
  'memory.crontab_field(text)'::regprocedure,
  'memory.in_any_case(text)'::regprocedure,
  'memory.schedule_pattern()'::regprocedure,
  'memory.is_schedule(text)'::regprocedure,
  'memory.crontab_values(text,integer,integer,text[])'::regprocedure,
  'memory.next_run(text,timestamp with time zone)'::regprocedure;
rollback;
