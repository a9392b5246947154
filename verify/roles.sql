-- Verify pymem:roles on pg

begin;
select
  'memory_owner'::regrole,
  'memory_search'::regrole,
  'memory_writer'::regrole,
  'memory_worker'::regrole,
  'memory_reader'::regrole,
  'memory_admin'::regrole,
  'memory_gateway'::regrole;
rollback;
