-- Deploy pymem:triggers/sessions to pg

begin;

set local role memory_owner;

create or replace trigger audit
after insert or delete on memory.sessions
for each row execute function memory.audit_session();

create or replace trigger audit_updated
after update of
tenant_id, id, session_digest, csrf_token, token_id, login, role, actor, created_at, expires_at
on memory.sessions
for each row execute function memory.audit_session();

create or replace trigger refuse_truncate
before truncate on memory.sessions
for each statement execute function memory.refuse_truncate();

commit;
