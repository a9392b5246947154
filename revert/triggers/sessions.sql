-- Revert pymem:triggers/sessions from pg

begin;

drop trigger refuse_truncate on memory.sessions;
drop trigger audit_updated on memory.sessions;
drop trigger audit on memory.sessions;

commit;
