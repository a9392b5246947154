-- Deploy pymem:triggers/sensitive_patterns to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.tenant_patterns
for each row execute function memory.audit_settings('sensitive_pattern');

create or replace trigger refuse_truncate
before truncate on memory.tenant_patterns
for each statement execute function memory.refuse_truncate();

commit;
