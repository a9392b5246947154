-- Verify pymem:tables/tenant_logins on pg

begin;
select t.tenant_id, t.login, t.created_at from memory.tenant_logins as t where false;
rollback;
