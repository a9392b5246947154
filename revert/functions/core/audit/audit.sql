-- Revert pymem:functions/core/audit/audit from pg

begin;

drop function memory.refuse_truncate();
drop function memory.refuse_delete();
drop function memory.refuse_loss_of_history();
drop function memory.is_unmarking(text,uuid);
drop function memory.is_erasing(text);
drop function memory.assign_xid();
drop function memory.refuse_change();
drop function memory.audit_settings();
drop function memory.hide_values(jsonb,text[]);
drop function memory.audit_link();
drop function memory.audit_created_links();
drop function memory.audit_proposal();
drop function memory.audit_rule_application();
drop function memory.audit_update();
drop function memory.audit_event();
drop function memory.write_event(text,text,text,uuid,jsonb);
drop function memory.refuse_transition(text,uuid,text,text,text);
drop function memory.write_transition(text,text,uuid,text,text,text,jsonb);
drop function memory.audit_maturity();
drop function memory.audit_merge();
drop function memory.audit_transition();
drop function memory.audit_created();
drop function memory.is_restoring();
drop function memory.has_begun_restore();

commit;
