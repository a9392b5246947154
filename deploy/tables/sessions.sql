-- Deploy pymem:tables/sessions to pg

begin;

set local role memory_owner;

-- Like tokens, sessions and codes are looked up by digest within the tenant that they name.
create table memory.sessions (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  session_digest bytea not null check (octet_length(session_digest) = 32),
  csrf_token text not null check (csrf_token ~ '^[0-9a-f]{64}$'),
  token_id uuid,
  login name,
  role text check (role in ('reader', 'writer', 'worker', 'admin')),
  actor text check (memory.is_actor(actor)),
  created_at timestamptz not null check (isfinite(created_at)),
  last_used_at timestamptz not null check (isfinite(last_used_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  primary key (tenant_id, id),
  unique (tenant_id, session_digest),
  foreign key (tenant_id, token_id) references memory.access_tokens (tenant_id, id),
  constraint sessions_origin_check
  check (num_nulls(login, role, actor) = case when token_id is null then 0 else 3 end),
  check (expires_at > created_at)
);

create index sessions_token_idx on memory.sessions (tenant_id, token_id) where token_id is not null;

create index sessions_expires_idx on memory.sessions (tenant_id, expires_at);

comment on table memory.sessions is
'Who is logged in at the dashboard: by an access token, or by a one-time code that a database '
'login asked for. Any process serves a session; a row is deleted when its session ends.';
comment on column memory.sessions.session_digest is
'SHA-256 of the session id in the cookie; the id itself, 256 random bits, is not stored.';
comment on column memory.sessions.csrf_token is
'What each form of the session must bring along, so that no other page can send one.';
comment on column memory.sessions.token_id is
'The access token that opened it, and without which it ends; NULL: it was opened by a code.';
comment on column memory.sessions.login is
'The database login that asked for the code, and without whose role it ends; NULL: by a token.';
comment on column memory.sessions.role is
'What its holder may do; NULL: what the access token says.';
comment on column memory.sessions.actor is
'The actor recorded on audit events of its holder; NULL: what the access token says.';
comment on column memory.sessions.last_used_at is
'The last request, to the minute, so that a session in use updates its row once a minute.';
comment on column memory.sessions.expires_at is 'When it ends even if it is used.';

create table memory.login_codes (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  code_digest bytea not null check (octet_length(code_digest) = 32),
  login name not null,
  role text not null check (role in ('reader', 'writer', 'worker', 'admin')),
  actor text not null check (memory.is_actor(actor)),
  created_at timestamptz not null check (isfinite(created_at)),
  expires_at timestamptz not null check (isfinite(expires_at)),
  primary key (tenant_id, code_digest),
  check (expires_at > created_at)
);

comment on table memory.login_codes is
'One-time codes, such as in the link that a command prints, each of which opens one session. '
'Deleted when used.';
comment on column memory.login_codes.code_digest is
'SHA-256 of the code; the code itself, 256 random bits, is not stored.';
comment on column memory.login_codes.login is 'The database login that asked for it.';

commit;
