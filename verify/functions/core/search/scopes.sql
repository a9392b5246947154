-- Verify pymem:functions/core/search/scopes on pg

begin;
select
  'memory.list_scopes(integer,timestamp with time zone)'::regprocedure;
rollback;
