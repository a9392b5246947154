-- Revert pymem:functions/core/base/tenants from pg

begin;

drop function memory.list_busy_tenants(text,timestamp with time zone);
drop function memory.list_tenants();
drop function memory.is_elsewhere(text);
drop function memory.check_acts_for_all();
drop function memory.tenants_with_memories();
drop function memory.tenants_in(name,text,timestamp with time zone);

commit;
