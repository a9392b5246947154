-- Deploy pymem:triggers/dismissed_contradictions to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or update or delete on memory.dismissed_contradictions
for each row execute function memory.audit_dismissal();

create or replace trigger refuse_truncate
before truncate on memory.dismissed_contradictions
for each statement execute function memory.refuse_truncate();

commit;
