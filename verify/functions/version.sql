-- Verify pymem:functions/version on pg

begin;
select 'memory.version()'::regprocedure;
rollback;
