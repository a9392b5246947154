-- Verify pymem:functions/extras/transfer/audit_import on pg

begin;
select
  'memory.audit_import()'::regprocedure,
  'memory.refuse_unfinished_restore()'::regprocedure;
rollback;
