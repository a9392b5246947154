-- Revert pymem:tables/tenant_moves from pg

begin;

drop table memory.tenant_moves;

commit;
