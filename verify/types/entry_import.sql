-- Verify pymem:types/entry_import on pg

begin;
select
  'memory.entry_to_import'::regtype;
rollback;
