-- Revert pymem:tables/store_items from pg

begin;

set local role memory_owner;

drop table memory.store_vectors;
drop table memory.store_items;

commit;
