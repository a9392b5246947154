-- Verify pymem:functions/schedule on pg

begin;
select 'memory.is_schedule(text)'::regprocedure;
rollback;
