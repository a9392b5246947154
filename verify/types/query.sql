-- Verify pymem:types/query on pg

begin;
select
  'memory.linked_entry'::regtype,
  'memory.queried_memory'::regtype;
rollback;
