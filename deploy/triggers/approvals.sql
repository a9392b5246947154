-- Deploy pymem:triggers/approvals to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update on memory.approvals
for each row execute function memory.audit_approval();

create or replace trigger refuse_change
before delete on memory.approvals
for each row
execute function memory.refuse_change('Revoke the approval with memory.revoke_approval.');

create or replace trigger refuse_truncate
before truncate on memory.approvals
for each statement execute function memory.refuse_truncate();

commit;
