-- Verify pymem:row_security on pg

begin;
select 1 / (count(*) = 0)::integer
from pg_class as c
where c.relnamespace = 'memory'::regnamespace
  and c.relkind = 'r'
  and not (c.relrowsecurity and c.relforcerowsecurity);
rollback;
