-- Revert pymem:functions/core/base/tenants from pg

begin;

drop function memory.list_tenants();
drop function memory.tenants_with_memories();

commit;
