-- Verify pymem:functions/core/base/tenants on pg

begin;
select
  'memory.tenants_in(name,text,timestamp with time zone)'::regprocedure,
  'memory.tenants_with_memories()'::regprocedure,
  'memory.check_acts_for_all()'::regprocedure,
  'memory.is_elsewhere(text)'::regprocedure,
  'memory.list_tenants()'::regprocedure,
  'memory.list_busy_tenants(text,timestamp with time zone)'::regprocedure;
rollback;
