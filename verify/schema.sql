-- Verify pymem:schema on pg

begin;
select 'memory'::regnamespace, 'public.vector'::regtype;
select 1 / (pg_catalog.has_schema_privilege('memory_owner', 'memory', 'create'))::integer;
rollback;
