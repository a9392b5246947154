-- Verify pymem:tables/settings on pg

begin;
select s.tenant_id, s.retrieval_mode, s.context_token_budget from memory.settings as s where false;
rollback;
