-- Deploy pymem:functions/extras/operations/sessions to pg

begin;

set local role memory_owner;

-- The strong random source of the server is only within reach as UUIDs of 122 random bits each.
create or replace function memory.random_secret()
  returns text
  language sql
  volatile
  return encode(
    sha256(
      uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())
    ),
    'hex'
  );

comment on function memory.random_secret() is '256 random bits in hexadecimal.';

create or replace function memory.login_serves(
  login name,
  role text,
  tenant_id text
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (
      select
        pg_has_role(
          r.oid, format('%smemory_%s', memory.role_prefix(), login_serves.role)::name, 'usage'
        )
        and coalesce(
          (select l.tenant_id = login_serves.tenant_id
           from memory.tenant_logins as l where l.login = login_serves.login),
          pg_has_role(r.oid, 'memory_gateway', 'member')
        )
      from pg_roles as r
      where r.rolname = login_serves.login
    ),
    false
  );
$$;

comment on function memory.login_serves(name, text, text) is
'Whether a database login exists, has the role of this short name, such as reader, and acts for a '
'tenant.';

create or replace function memory.audit_session()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_session memory.sessions := case tg_op when 'DELETE' then old else new end;
begin
  perform memory.write_event(
    v_session.tenant_id,
    case tg_op
      when 'INSERT' then 'session_started' when 'DELETE' then 'session_ended'
      else 'session_updated'
    end,
    'session', v_session.id,
    case
      when v_session.token_id is null
      then jsonb_build_object('login', v_session.login, 'role', v_session.role)
      else jsonb_build_object('token_id', v_session.token_id)
    end
  );
  return null;
end;
$$;

comment on function memory.audit_session() is
'Trigger: writes session_started, session_ended or, if somebody changes more than the last use, '
'session_updated, with the access token, or the login and role, that opened the session.';

create or replace function memory.start_session(
  tenant_id text,
  token_id uuid,
  login name,
  role text,
  actor text,
  token_expires_at timestamptz,
  as_of timestamptz
)
  returns table (
    session_id text,
    csrf_token text,
    session_expires_at timestamptz
  )
  language plpgsql
  volatile
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  session_id := format(
    '%s_%s', encode(convert_to(start_session.tenant_id, 'UTF8'), 'hex'), memory.random_secret()
  );
  insert into memory.sessions as s (
    tenant_id, session_digest, csrf_token, token_id, login, role, actor, created_at, last_used_at,
    expires_at
  )
  values (
    start_session.tenant_id, sha256(convert_to(session_id, 'UTF8')), memory.random_secret(),
    start_session.token_id, start_session.login, start_session.role, start_session.actor, as_of,
    as_of, least(as_of + interval '24 hours', token_expires_at)
  )
  returning s.csrf_token, s.expires_at into csrf_token, session_expires_at;
  return next;
end;
$$;

comment on function memory.start_session(
  text, uuid, name, text, text, timestamptz, timestamptz
) is
'Stores a session for 24 hours, or until its token expires, and returns the session id and the '
'token of its forms.';

create or replace function memory.create_session(
  token_digest bytea,
  as_of timestamptz default now()
)
  returns table (
    session_id text,
    csrf_token text,
    tenant_id text,
    role text,
    actor text,
    token_id uuid,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.check_write_time('as_of', as_of);
  return query
  select
    s.session_id, s.csrf_token, t.tenant_id, t.role, t.actor, t.token_id, s.session_expires_at
  from memory.authenticate_token(token_digest, as_of) as t
  cross join lateral memory.start_session(
    t.tenant_id, t.token_id, null, null, null, t.expires_at, as_of
  ) as s;
end;
$$;

comment on function memory.create_session(bytea, timestamptz) is
'Opens a session of the dashboard for the holder of the access token with this SHA-256 digest; no '
'row if memory.authenticate_token finds none. Returns the session id, for a cookie, only this '
'once: only its digest is stored. It has the form <tenant in hexadecimal>_<256 random bits>: set '
'that tenant with set_request before memory.authenticate_session. csrf_token: what each form must '
'bring along. Ends after 24 hours, after 8 hours without use, and with the token. It answers for '
'the time as_of: a server that lets somebody in leaves it out. Errors: PM002.';
grant execute on function memory.create_session
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.create_login_code(
  role text,
  actor text default null,
  as_of timestamptz default now()
)
  returns table (
    login_code text,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_actor text := coalesce(create_login_code.actor, memory.current_actor());
begin
  perform
    memory.check_word('role', create_login_code.role, '{reader,writer,worker,admin}'),
    memory.check_write_time('as_of', as_of);
  if not memory.is_actor(v_actor) then
    raise exception 'actor is not a name of 1 to 128 bytes without invisible characters'
      using errcode = 'PM002', hint = 'Pass a short name such as "Ada".';
  end if;
  if not pg_has_role(
    memory.acting_role(),
    format('%smemory_%s', memory.role_prefix(), create_login_code.role)::name,
    'usage'
  ) then
    raise exception 'role is %, which you do not have yourself', create_login_code.role
      using errcode = 'PM002', hint = 'Pass a role that your database login has.';
  end if;

  login_code := format(
    '%s_%s', encode(convert_to(v_tenant_id, 'UTF8'), 'hex'), memory.random_secret()
  );
  insert into memory.login_codes as c
    (tenant_id, code_digest, login, role, actor, created_at, expires_at)
  values (
    v_tenant_id, sha256(convert_to(login_code, 'UTF8')), session_user, create_login_code.role,
    v_actor, as_of, as_of + interval '60 seconds'
  )
  returning c.expires_at into expires_at;
  return next;
end;
$$;

comment on function memory.create_login_code(text, text, timestamptz) is
'A one-time code of the form <tenant in hexadecimal>_<256 random bits> that opens one session of '
'the dashboard within 60 seconds (memory.redeem_login_code): for a link that a command prints. '
'role: reader, writer, worker or admin, which the caller must have itself. actor: who acts in that '
'session (NULL: the actor of this transaction). Errors: PM002.';
grant execute on function memory.create_login_code
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.redeem_login_code(
  code_digest bytea,
  as_of timestamptz default now()
)
  returns table (
    session_id text,
    csrf_token text,
    tenant_id text,
    role text,
    actor text,
    token_id uuid,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_code memory.login_codes;
begin
  perform memory.check_write_time('as_of', as_of);
  -- Of two that redeem a code at once, one waits here and then finds nothing.
  delete from memory.login_codes as c
  where c.tenant_id = v_tenant_id and c.code_digest = redeem_login_code.code_digest
  returning c.* into v_code;
  if v_code.expires_at > as_of
    and memory.login_serves(v_code.login, v_code.role, v_tenant_id)
  then
    return query
    select
      s.session_id, s.csrf_token, v_tenant_id, v_code.role, v_code.actor, null::uuid,
      s.session_expires_at
    from memory.start_session(
      v_tenant_id, null, v_code.login, v_code.role, v_code.actor, null, as_of
    ) as s;
  end if;
end;
$$;

comment on function memory.redeem_login_code(bytea, timestamptz) is
'Opens a session for the one-time code with this SHA-256 digest, and deletes the code; no row if '
'it is unknown, used or older than 60 seconds. Returns what memory.create_session does, without a '
'token. The session also ends when the login that asked for the code loses the role. Errors: '
'PM002.';
grant execute on function memory.redeem_login_code
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.is_session_over(
  session memory.sessions,
  as_of timestamptz
)
  returns boolean
  language sql
  immutable
  parallel safe
  return (session).expires_at <= as_of or (session).last_used_at <= as_of - interval '8 hours';

comment on function memory.is_session_over(memory.sessions, timestamptz) is
'Whether a session has reached its end, or was not used for 8 hours.';

create or replace function memory.authenticate_session(
  session_digest bytea,
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    tenant_id text,
    role text,
    actor text,
    token_id uuid,
    csrf_token text,
    created_at timestamptz,
    last_used_at timestamptz,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  -- A time to come would keep the session from getting idle.
  v_now timestamptz := least(as_of, now());
  v_session memory.sessions;
begin
  perform memory.check_time('as_of', as_of);
  select s.* into v_session
  from memory.sessions as s
  where s.tenant_id = v_tenant_id and s.session_digest = authenticate_session.session_digest
    and not memory.is_session_over(s, as_of);
  if not found then
    return;
  end if;
  if v_session.token_id is not null then
    -- A revoked token is refused at any as_of.
    select t.role, t.actor into v_session.role, v_session.actor
    from memory.access_tokens as t
    where t.tenant_id = v_tenant_id and t.id = v_session.token_id
      and t.revoked_at is null and t.expires_at > as_of;
    if not found then
      return;
    end if;
  elsif not memory.login_serves(v_session.login, v_session.role, v_tenant_id) then
    return;
  end if;

  -- skip locked: a request never waits for another one.
  if v_session.last_used_at <= v_now - interval '1 minute'
    and memory.can_write()
  then
    update memory.sessions as s
    set last_used_at = v_now
    where s.tenant_id = v_tenant_id
      and s.id = (
        select n.id
        from memory.sessions as n
        where n.tenant_id = v_tenant_id and n.id = v_session.id
        for no key update skip locked
      );
    v_session.last_used_at := v_now;
  end if;

  return query
  select
    v_session.id, v_session.tenant_id, v_session.role, v_session.actor, v_session.token_id,
    v_session.csrf_token, v_session.created_at, v_session.last_used_at, v_session.expires_at;
end;
$$;

comment on function memory.authenticate_session(bytea, timestamptz) is
'The session with this SHA-256 digest, within the current tenant, and who acts in it; no row if it '
'is unknown, has ended, was not used for 8 hours or is 24 hours old, and none if its access token '
'was revoked or expired, or the login whose code opened it lost the role. Takes the digest so that '
'no session id appears in the server log. Records the use, at most once a minute. It answers for '
'the time as_of: a server that lets somebody in leaves it out. Errors: PM002.';
grant execute on function memory.authenticate_session
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.end_session(session_digest bytea)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.sessions as s
  where s.tenant_id = memory.current_tenant()
    and s.session_digest = end_session.session_digest;
  return found;
end;
$$;

comment on function memory.end_session(bytea) is
'Ends the session with this SHA-256 digest: it is refused once this commits. Returns whether there '
'was one. Errors: 28000 no tenant.';
grant execute on function memory.end_session
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.delete_expired_sessions(as_of timestamptz default now())
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_deleted bigint;
begin
  perform memory.check_write_time('as_of', as_of);
  delete from memory.login_codes as c
  where c.tenant_id = v_tenant_id and c.expires_at <= as_of;
  delete from memory.sessions as s
  where s.tenant_id = v_tenant_id
    and s.id = any (array(
      select o.id
      from memory.sessions as o
      where o.tenant_id = v_tenant_id
        and (
          memory.is_session_over(o, as_of)
          or exists (
            select from memory.access_tokens as t
            where t.tenant_id = v_tenant_id and t.id = o.token_id
              and (t.revoked_at is not null or t.expires_at <= as_of)
          )
        )
      order by o.id
      for update skip locked
    ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

comment on function memory.delete_expired_sessions(timestamptz) is
'Deletes the sessions that are over or whose access token is no longer valid, and the one-time '
'codes that nobody used. Returns how many sessions. Errors: PM002.';
grant execute on function memory.delete_expired_sessions to memory_worker;

commit;
