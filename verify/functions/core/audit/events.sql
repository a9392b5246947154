-- Verify pymem:functions/core/audit/events on pg

begin;
select
  'memory.list_events(uuid,text,timestamp with time zone,bigint,integer)'::regprocedure;
rollback;
