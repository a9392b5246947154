-- Revert pymem:functions/extras/conversations/store_messages from pg

begin;

drop function memory.store_messages(jsonb,text,uuid,double precision,text,timestamp with time zone);
drop function memory.read_messages(jsonb,timestamp with time zone);
drop function memory.check_messages(jsonb);
drop function memory.message_time(jsonb);
drop function memory.message_text(jsonb);
drop function memory.message_part_text(jsonb);

commit;
