-- Verify pymem:functions/extras/items/store_items on pg

begin;
select
  'memory.is_text_array(jsonb)'::regprocedure,
  'memory.text_array_of(jsonb)'::regprocedure,
  'memory.check_namespace(jsonb,text,boolean)'::regprocedure,
  'memory.end_of_prefix(text[])'::regprocedure,
  'memory.vectors_of(jsonb)'::regprocedure,
  'memory.read_items(jsonb)'::regprocedure,
  'memory.put_items(jsonb,timestamp with time zone)'::regprocedure,
  'memory.refresh_items(text,uuid[],timestamp with time zone)'::regprocedure,
  'memory.get_items(jsonb,timestamp with time zone)'::regprocedure,
  'memory.read_item_searches(jsonb)'::regprocedure,
  'memory.search_items(jsonb,timestamp with time zone)'::regprocedure,
  'memory.matches_labels(text[],text[],boolean)'::regprocedure,
  'memory.list_item_namespaces(jsonb,timestamp with time zone)'::regprocedure,
  'memory.elements_of(jsonb,text)'::regprocedure,
  'memory.batch_items(jsonb,timestamp with time zone)'::regprocedure,
  'memory.delete_expired_items(timestamp with time zone)'::regprocedure;
rollback;
