-- Verify pymem:triggers/episodes on pg

begin;
select
  'memory.record_episode_changes()'::regprocedure;
select 1 / (count(*) = 16)::integer
from pg_trigger as t
where t.tgrelid = 'memory.episodes'::regclass and t.tgname in (
  'audit_created',
  'audit_deleted',
  'audit_expired',
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
  'refuse_truncate',
  'start_state'
);
rollback;
