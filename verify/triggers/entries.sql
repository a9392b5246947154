-- Verify pymem:triggers/entries on pg

begin;
select
  'memory.record_entry_changes()'::regprocedure;
select 1 / (count(*) = 19)::integer
from pg_trigger as t
where t.tgrelid = 'memory.entries'::regclass and t.tgname in (
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
  'guard',
  'keep_counters',
  'prepare',
  'record_changes',
  'refuse_truncate',
  'requeue_embedding',
  'start_state'
);
select 1 / (count(*) = 2)::integer
from pg_trigger as t
where t.tgrelid = 'memory.entry_policies'::regclass and t.tgname in (
  'audit',
  'refuse_truncate'
);
select 1 / (count(*) = 1)::integer
from pg_trigger as t
where t.tgrelid = 'memory.entry_consolidations'::regclass and t.tgname in (
  'refuse_truncate'
);
rollback;
