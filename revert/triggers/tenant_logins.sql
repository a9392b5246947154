-- Revert pymem:triggers/tenant_logins from pg

begin;

drop trigger refuse_truncate on memory.tenant_logins;
drop trigger audit on memory.tenant_logins;

commit;
