-- Verify pymem:functions/core/audit/attach_triggers on pg

begin;
select
  'memory.attach_triggers(text)'::regprocedure;
rollback;
