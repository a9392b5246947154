-- Verify pymem:functions/core/base/time_zones on pg

begin;
select
  'memory.is_time_zone(text)'::regprocedure,
  'memory.refuse_time_zone(text,text)'::regprocedure,
  'memory.check_time_zone(text,text)'::regprocedure;
rollback;
