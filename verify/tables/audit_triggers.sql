-- Verify pymem:tables/audit_triggers on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.memory_events'::regclass and t.tgenabled = 'A';
rollback;
