-- Verify pymem:functions/scopes on pg

begin;
select
  'memory.list_scopes(integer, timestamptz)'::regprocedure;
rollback;
