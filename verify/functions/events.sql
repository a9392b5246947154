-- Verify pymem:functions/events on pg

begin;
select 'memory.list_events(uuid, text, timestamptz, bigint, integer)'::regprocedure;
rollback;
