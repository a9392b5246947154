-- Verify pymem:functions/core/base/deployment on pg

begin;
select
  'memory.extension_schemas()'::regprocedure,
  'memory.has_extension(name)'::regprocedure,
  'memory.role_prefix()'::regprocedure;
rollback;
