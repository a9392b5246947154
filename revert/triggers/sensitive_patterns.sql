-- Revert pymem:triggers/sensitive_patterns from pg

begin;

drop trigger refuse_truncate on memory.tenant_patterns;
drop trigger audit on memory.tenant_patterns;

commit;
