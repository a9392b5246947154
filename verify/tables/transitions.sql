-- Verify pymem:tables/transitions on pg

begin;
select 1 / count(*) from memory.transitions as t where t.event_type = 'fact_created';
rollback;
