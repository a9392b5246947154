-- Revert pymem:functions/extras/items/store_items from pg

begin;

drop function memory.delete_expired_items(timestamp with time zone);
drop function memory.batch_items(jsonb,timestamp with time zone);
drop function memory.elements_of(jsonb,text);
drop function memory.list_item_namespaces(jsonb,timestamp with time zone);
drop function memory.matches_labels(text[],text[],boolean);
drop function memory.search_items(jsonb,timestamp with time zone);
drop function memory.read_item_searches(jsonb);
drop function memory.get_items(jsonb,timestamp with time zone);
drop function memory.refresh_items(text,uuid[],timestamp with time zone);
drop function memory.put_items(jsonb,timestamp with time zone);
drop function memory.read_items(jsonb);
drop function memory.vectors_of(jsonb);
drop function memory.end_of_prefix(text[]);
drop function memory.check_namespace(jsonb,text,boolean);
drop function memory.text_array_of(jsonb);
drop function memory.is_text_array(jsonb);

commit;
