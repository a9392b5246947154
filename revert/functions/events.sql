-- Revert pymem:functions/events from pg

begin;

drop function memory.list_events(uuid, text, timestamptz, bigint, integer);

commit;
