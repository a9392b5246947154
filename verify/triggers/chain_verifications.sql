-- Verify pymem:triggers/chain_verifications on pg

begin;
select 1 / (count(*) = 3)::integer
from pg_trigger as t
where t.tgrelid = 'memory.chain_verifications'::regclass and t.tgname in (
  'audit_created',
  'refuse_change',
  'refuse_truncate'
);
rollback;
