-- Verify pymem:functions/extras/transfer/transfer_kinds on pg

begin;
select
  'memory.transfer_kinds()'::regprocedure,
  'memory.transfer_columns(name,boolean)'::regprocedure;
rollback;
