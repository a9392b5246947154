-- Verify pymem:functions/extras/conversations/store_messages on pg

begin;
select
  'memory.message_part_text(jsonb)'::regprocedure,
  'memory.message_text(jsonb)'::regprocedure,
  'memory.message_time(jsonb)'::regprocedure,
  'memory.check_messages(jsonb)'::regprocedure,
  'memory.read_messages(jsonb,timestamp with time zone)'::regprocedure,
  'memory.store_messages(jsonb,text,uuid,double precision,text,timestamp with time zone)'::regprocedure;
rollback;
