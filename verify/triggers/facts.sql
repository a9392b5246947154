-- Verify pymem:triggers/facts on pg

begin;
select
  'memory.record_fact_changes()'::regprocedure;
select 1 / (count(*) = 18)::integer
from pg_trigger as t
where t.tgrelid = 'memory.facts'::regclass and t.tgname in (
  'audit_confirmed',
  'audit_created',
  'audit_deleted',
  'audit_updated',
  'check_vector',
  'count_changed_text',
  'count_deleted_texts',
  'count_stored_texts',
  'create_tombstones',
  'delete_history',
  'enqueue_embedding',
  'forget_embedding',
  'prepare',
  'record_changes',
  'refuse_cycle',
  'refuse_delete',
  'refuse_truncate',
  'start_state'
);
rollback;
