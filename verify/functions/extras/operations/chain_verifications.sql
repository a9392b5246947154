-- Verify pymem:functions/extras/operations/chain_verifications on pg

begin;
select
  'memory.audit_verification()'::regprocedure,
  'memory.record_verification(bigint,bytea,timestamp with time zone)'::regprocedure,
  'memory.list_verifications(integer)'::regprocedure,
  'memory.chain_status()'::regprocedure;
rollback;
