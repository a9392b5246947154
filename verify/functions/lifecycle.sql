-- Verify pymem:functions/lifecycle on pg

begin;
select
  'memory.check_after_creation(text, text, uuid, timestamptz)'::regprocedure,
  'memory.confirm_memory(text, uuid, timestamptz)'::regprocedure,
  'memory.forget_memory(text, uuid, timestamptz)'::regprocedure,
  'memory.get_memory(text, uuid, timestamptz)'::regprocedure;
rollback;
