-- Deploy pymem:triggers/tenant_logins to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.tenant_logins
for each row execute function memory.audit_settings('tenant_login');

create or replace trigger refuse_truncate
before truncate on memory.tenant_logins
for each statement execute function memory.refuse_truncate();

commit;
