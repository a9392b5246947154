-- Verify pymem:functions/tenants on pg

begin;
select
  'memory.tenants_with_memories()'::regprocedure,
  'memory.list_tenants()'::regprocedure;
rollback;
