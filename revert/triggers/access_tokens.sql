-- Revert pymem:triggers/access_tokens from pg

begin;

drop trigger refuse_truncate on memory.access_tokens;
drop trigger refuse_change on memory.access_tokens;
drop trigger audit_updated on memory.access_tokens;
drop trigger audit_revoked on memory.access_tokens;
drop trigger audit_created on memory.access_tokens;

commit;
