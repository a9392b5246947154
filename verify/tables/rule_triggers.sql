-- Verify pymem:tables/rule_triggers on pg

begin;
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.rule_applications'::regclass
  and t.tgname in ('check_application', 'count_application');
rollback;
