-- Revert pymem:functions/tenants from pg

begin;

drop function memory.list_tenants();
drop function memory.tenants_with_memories();
revoke all on schema memory from memory_search;

commit;
