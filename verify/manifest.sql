-- Verify pymem:manifest on pg

begin;
select 1 / (count(*) = 0)::integer from memory.check_definitions();
rollback;
