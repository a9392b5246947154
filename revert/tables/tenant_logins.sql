-- Revert pymem:tables/tenant_logins from pg

begin;

drop table memory.tenant_logins;

commit;
