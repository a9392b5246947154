-- Verify pymem:functions/extras/items/item_filters on pg

begin;
select
  'memory.is_item_operator(jsonb)'::regprocedure,
  'memory.check_item_filter(jsonb)'::regprocedure,
  'memory.meets_item_operator(jsonb,text,jsonb)'::regprocedure,
  'memory.matches_item_filter(jsonb,jsonb)'::regprocedure,
  'memory.meets_item_filter(jsonb,jsonb)'::regprocedure;
rollback;
