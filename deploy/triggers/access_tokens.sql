-- Deploy pymem:triggers/access_tokens to pg

begin;

set local role memory_owner;

create or replace trigger audit_created
after insert on memory.access_tokens
for each row execute function memory.audit_access_token('access_token_created');

create or replace trigger audit_revoked
after update of revoked_at on memory.access_tokens
for each row when (old.revoked_at is null and new.revoked_at is not null)
execute function memory.audit_access_token('access_token_revoked');

create or replace trigger audit_updated
after update of
tenant_id, id, name, token_digest, role, actor, created_at, expires_at, revoked_at
on memory.access_tokens
for each row when (
  (
    new.tenant_id, new.id, new.name, new.token_digest, new.role, new.actor, new.created_at,
    new.expires_at
  ) is distinct from (
    old.tenant_id, old.id, old.name, old.token_digest, old.role, old.actor, old.created_at,
    old.expires_at
  )
  or old.revoked_at is not null and new.revoked_at is distinct from old.revoked_at
)
execute function memory.audit_access_token('access_token_updated');

create or replace trigger refuse_change
before delete on memory.access_tokens
for each row
execute function memory.refuse_change('Revoke the token with memory.revoke_access_token.');

create or replace trigger refuse_truncate
before truncate on memory.access_tokens
for each statement execute function memory.refuse_truncate();

commit;
