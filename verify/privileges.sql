-- Verify pymem:privileges on pg

begin;
select 1 / has_function_privilege('memory_writer', p.oid, 'execute')::integer
from pg_proc as p
where p.oid in ('memory.recall'::regproc, 'memory.store_fact'::regproc);
select 1 / (not has_table_privilege('memory_writer', 'memory.facts', 'select'))::integer;
select 1 / (not has_schema_privilege('memory_search', 'memory', 'create'))::integer;
rollback;
