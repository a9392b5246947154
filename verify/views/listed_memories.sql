-- Verify pymem:views/listed_memories on pg

begin;
select
  'memory.listed_memories'::regclass;
rollback;
