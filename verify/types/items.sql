-- Verify pymem:types/items on pg

begin;
select
  'memory.item_to_put'::regtype,
  'memory.item_search'::regtype;
rollback;
