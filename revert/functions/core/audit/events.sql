-- Revert pymem:functions/core/audit/events from pg

begin;

drop function memory.list_events(uuid,text,text,text,text,timestamp with time zone,timestamp with time zone,timestamp with time zone,bigint,bigint,integer,timestamp with time zone);

commit;
