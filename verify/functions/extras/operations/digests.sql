-- Verify pymem:functions/extras/operations/digests on pg

begin;
select
  'memory.append_digest(bytea,bytea,bytea)'::regprocedure;
rollback;
