-- Verify pymem:tables/memory_types on pg

begin;
select t.memory_type, t.table_name, t.position, t.is_searched
from memory.memory_types as t
where false;
select 1 / count(*) from memory.memory_types as t where t.memory_type = 'fact';
rollback;
