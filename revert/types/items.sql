-- Revert pymem:types/items from pg

begin;

drop type memory.item_search;
drop type memory.item_to_put;

commit;
