-- Revert pymem:functions/core/audit/events from pg

begin;

drop function memory.list_events(uuid,text,timestamp with time zone,bigint,integer);

commit;
