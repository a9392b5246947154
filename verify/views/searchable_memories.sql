-- Verify pymem:views/searchable_memories on pg

begin;
select
  'memory.searchable_memories'::regclass;
rollback;
