-- Verify pymem:triggers/store_items on pg

begin;
select
  'memory.record_item_changes()'::regprocedure;
select 1 / (count(*) = 7)::integer
from pg_trigger as t
where t.tgrelid = 'memory.store_items'::regclass and t.tgname in (
  'audit_created',
  'audit_deleted',
  'audit_updated',
  'delete_history',
  'record_changes',
  'refuse_truncate',
  'start_state'
);
select 1 / (count(*) = 1)::integer
from pg_trigger as t
where t.tgrelid = 'memory.store_vectors'::regclass and t.tgname in (
  'check_vector'
);
rollback;
