-- Revert pymem:tables/sensitive_patterns from pg

begin;

drop table memory.tenant_patterns;
drop table memory.sensitive_patterns;

commit;
