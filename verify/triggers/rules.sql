-- Verify pymem:triggers/rules on pg

begin;
select
  'memory.record_rule_changes()'::regprocedure;
select 1 / (count(*) = 20)::integer
from pg_trigger as t
where t.tgrelid = 'memory.rules'::regclass and t.tgname in (
  'audit_confirmed',
  'audit_counted',
  'audit_created',
  'audit_deleted',
  'audit_maturity',
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
  'refuse_delete',
  'refuse_truncate',
  'requeue_embedding',
  'start_state'
);
select 1 / (count(*) = 6)::integer
from pg_trigger as t
where t.tgrelid = 'memory.rule_applications'::regclass and t.tgname in (
  'audit_created',
  'check_application',
  'count_application',
  'refuse_change',
  'refuse_loss',
  'refuse_truncate'
);
rollback;
