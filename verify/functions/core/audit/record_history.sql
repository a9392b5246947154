-- Verify pymem:functions/core/audit/record_history on pg

begin;
select
  'memory.image_of(text,jsonb)'::regprocedure,
  'memory.image_digest(jsonb)'::regprocedure,
  'memory.next_state_at(timestamp with time zone,timestamp with time zone)'::regprocedure,
  'memory.start_state()'::regprocedure,
  'memory.define_recorder(text)'::regprocedure,
  'memory.delete_history()'::regprocedure;
rollback;
