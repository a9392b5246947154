-- Verify pymem:functions/core/audit/events on pg

begin;
select
  'memory.list_events(uuid,text,text,text,text,timestamp with time zone,timestamp with time zone,timestamp with time zone,bigint,bigint,integer,timestamp with time zone)'::regprocedure;
rollback;
