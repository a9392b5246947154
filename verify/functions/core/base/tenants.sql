-- Verify pymem:functions/core/base/tenants on pg

begin;
select
  'memory.tenants_with_memories()'::regprocedure,
  'memory.list_tenants()'::regprocedure;
rollback;
