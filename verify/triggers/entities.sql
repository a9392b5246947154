-- Verify pymem:triggers/entities on pg

begin;
select
  'memory.record_entity_changes()'::regprocedure;
select 1 / (count(*) = 12)::integer
from pg_trigger as t
where t.tgrelid = 'memory.entities'::regclass and t.tgname in (
  'audit_created',
  'audit_deleted',
  'audit_transition',
  'audit_updated',
  'delete_history',
  'prepare',
  'record_changes',
  'refuse_delete',
  'refuse_truncate',
  'start_state',
  'write_changed_names',
  'write_names'
);
rollback;
