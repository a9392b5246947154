-- Revert pymem:functions/extras/items/item_filters from pg

begin;

drop function memory.meets_item_filter(jsonb,jsonb);
drop function memory.matches_item_filter(jsonb,jsonb);
drop function memory.meets_item_operator(jsonb,text,jsonb);
drop function memory.check_item_filter(jsonb);
drop function memory.is_item_operator(jsonb);

commit;
