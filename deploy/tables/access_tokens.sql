-- Deploy pymem:tables/access_tokens to pg
-- requires: tables/audit_triggers

begin;

set local role memory_owner;

-- Tokens are looked up by their digest within the tenant that they name, so the unique key leads
-- with the tenant like every other one.
create table memory.access_tokens (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  name text not null check (octet_length(name) <= 128 and name ~ '^[^[:cntrl:]]+$'),
  token_digest bytea not null check (octet_length(token_digest) = 32),
  role text not null check (role in ('reader', 'writer', 'worker', 'admin')),
  actor text not null check (octet_length(actor) <= 128 and actor ~ '^[^[:cntrl:]]+$'),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  revoked_at timestamptz check (isfinite(revoked_at)),
  last_used_on date check (isfinite(last_used_on)),
  primary key (tenant_id, id),
  unique (tenant_id, token_digest),
  check (expires_at > created_at)
);

comment on table memory.access_tokens is
'Bearer tokens with which clients reach a tenant''s memory through a server such as pymem mcp. '
'Rows stay after a token has been revoked or has expired, so that its events can be understood.';
comment on column memory.access_tokens.name is 'What it is for, such as "laptop"; not unique.';
comment on column memory.access_tokens.token_digest is
'SHA-256 of the token, which is kept nowhere. A token has 244 random bits, so nobody finds one '
'from its digest, and a salt or a slow hash would add nothing.';
comment on column memory.access_tokens.role is
'What its holder may do: that of memory_reader, memory_writer, memory_worker or memory_admin.';
comment on column memory.access_tokens.actor is 'Who acts by it, for the audit.';
comment on column memory.access_tokens.last_used_on is
'The last day (UTC) on which it was used. A day, so that a token in use writes its row once a '
'day and not with each request.';

create trigger audit_created
after insert on memory.access_tokens
for each row execute function memory.audit_event('access_token', 'access_token_created');

create trigger audit_revoked
after update of revoked_at on memory.access_tokens
for each row when (old.revoked_at is null and new.revoked_at is not null)
execute function memory.audit_event('access_token', 'access_token_revoked');

create trigger audit_updated
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
execute function memory.audit_update('access_token');

create trigger refuse_change
before delete on memory.access_tokens
for each row
execute function memory.refuse_change('End a token with memory.revoke_access_token.');

create trigger refuse_truncate
before truncate on memory.access_tokens
for each statement execute function memory.refuse_truncate();

commit;
