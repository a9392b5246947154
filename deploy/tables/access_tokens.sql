-- Deploy pymem:tables/access_tokens to pg

begin;

set local role memory_owner;

-- Tokens are looked up by digest within the tenant that they name, so the unique key starts with
-- the tenant, like every other one.
create table memory.access_tokens (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  name text not null check (memory.is_actor(name)),
  token_digest bytea not null check (octet_length(token_digest) = 32),
  role text not null check (role in ('reader', 'writer', 'worker', 'admin')),
  actor text not null check (memory.is_actor(actor)),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  revoked_at timestamptz check (isfinite(revoked_at)),
  last_used_on date check (isfinite(last_used_on)),
  primary key (tenant_id, id),
  unique (tenant_id, token_digest),
  check (expires_at > created_at)
);

comment on table memory.access_tokens is
'Bearer tokens that give clients access to a tenant''s memory through a server such as pymem mcp. '
'Rows remain after a token is revoked or expires, so that its audit events stay traceable.';
comment on column memory.access_tokens.name is 'What it is used for, such as "laptop"; not unique.';
comment on column memory.access_tokens.token_digest is
'SHA-256 of the token; the token itself is not stored. A token has 244 random bits, so it cannot '
'be found from its digest, and a salt or a slow hash would add nothing.';
comment on column memory.access_tokens.role is
'What its holder may do: the rights of memory_reader, memory_writer, memory_worker or '
'memory_admin.';
comment on column memory.access_tokens.actor is 'The actor recorded on audit events of its holder.';
comment on column memory.access_tokens.last_used_on is
'The last day (UTC) on which it was used. Only the day, so that a token in use updates its row '
'once a day and not with each request.';
comment on column memory.access_tokens.expires_at is 'Until when it is accepted.';
comment on column memory.access_tokens.revoked_at is 'Since when it is refused; NULL: it is not.';

commit;
