-- Verify pymem:functions/restore on pg

begin;
select
  'memory.restore_memory(text, uuid, timestamptz)'::regprocedure,
  'memory.restore_fact(text, uuid, timestamptz)'::regprocedure;
rollback;
