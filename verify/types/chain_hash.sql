-- Verify pymem:types/chain_hash on pg

begin;
select
  'memory.chain_hash(bytea,bytea)'::regprocedure;
rollback;
