-- Verify pymem:functions/core/audit/audit on pg

begin;
select
  'memory.has_begun_restore()'::regprocedure,
  'memory.is_restoring()'::regprocedure,
  'memory.audit_created()'::regprocedure,
  'memory.audit_transition()'::regprocedure,
  'memory.audit_merge()'::regprocedure,
  'memory.audit_maturity()'::regprocedure,
  'memory.write_transition(text,text,uuid,text,text,text,jsonb)'::regprocedure,
  'memory.refuse_transition(text,uuid,text,text,text)'::regprocedure,
  'memory.write_event(text,text,text,uuid,jsonb)'::regprocedure,
  'memory.audit_event()'::regprocedure,
  'memory.audit_update()'::regprocedure,
  'memory.audit_rule_application()'::regprocedure,
  'memory.audit_proposal()'::regprocedure,
  'memory.audit_created_links()'::regprocedure,
  'memory.audit_link()'::regprocedure,
  'memory.hide_values(jsonb,text[])'::regprocedure,
  'memory.audit_settings()'::regprocedure,
  'memory.refuse_change()'::regprocedure,
  'memory.is_erasing(text)'::regprocedure,
  'memory.is_unmarking(text,uuid)'::regprocedure,
  'memory.refuse_loss_of_history()'::regprocedure,
  'memory.refuse_delete()'::regprocedure,
  'memory.refuse_truncate()'::regprocedure;
rollback;
