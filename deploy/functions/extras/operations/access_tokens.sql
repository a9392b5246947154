-- Deploy pymem:functions/extras/operations/access_tokens to pg

begin;

set local role memory_owner;

create or replace function memory.access_token_digest(access_token memory.access_tokens)
  returns text
  language sql
  stable
  parallel safe
  return '\x' || encode(sha256(convert_to(
    jsonb_build_array(
      access_token.tenant_id, access_token.id, encode(access_token.token_digest, 'hex'),
      access_token.role, access_token.actor, extract(epoch from access_token.expires_at),
      extract(epoch from access_token.revoked_at)
    )::text,
    'UTF8'
  )), 'hex');

comment on function memory.access_token_digest(memory.access_tokens) is
'SHA-256 of what an access token allows, in hexadecimal after \x: of whom, what, for how long. '
'Covers the digest of the token, which is random, so nothing can be guessed from it.';

create or replace function memory.audit_access_token()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.write_event(
    new.tenant_id, tg_argv[0], 'access_token', new.id,
    jsonb_build_object('digest', memory.access_token_digest(new))
    || case
      when tg_argv[0] = 'access_token_updated' then jsonb_build_object('changed', (
        select jsonb_agg(n.key order by n.key)
        from jsonb_each(to_jsonb(new)) as n
        join jsonb_each(to_jsonb(old)) as o on o.key = n.key
        where n.value is distinct from o.value
      ))
      else '{}'
    end
  );
  return null;
end;
$$;

comment on function memory.audit_access_token() is
'Trigger: writes an event with memory.access_token_digest, for memory.verify_chain, and the names '
'of changed columns. Argument: the event type.';

create or replace function memory.create_access_token(
  name text,
  role text,
  actor text default null,
  expires_in interval default '90 days',
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    token text,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_actor text := coalesce(create_access_token.actor, create_access_token.name);
  -- The tenant in hexadecimal, which says where to look up the token, then two UUIDs from the
  -- strong random source of the server: 244 random bits.
  v_token text := concat(
    'pymem_', encode(convert_to(v_tenant_id, 'UTF8'), 'hex'), '_',
    replace(concat(gen_random_uuid(), gen_random_uuid()), '-', '')
  );
begin
  perform memory.check_text('name', create_access_token.name, 128);
  perform memory.check_word('role', create_access_token.role, '{reader,writer,worker,admin}');
  if not memory.is_actor(create_access_token.name) or not memory.is_actor(v_actor) then
    raise exception 'name and actor must be 1 to 128 bytes long, without invisible characters'
      using errcode = 'PM002', hint = 'Pass short names such as "laptop" and "assistant".';
  end if;
  perform memory.check_write_time('as_of', as_of);
  if expires_in is null or as_of + expires_in <= as_of
    or as_of + expires_in > as_of + interval '10 years'
  then
    raise exception 'expires_in is %', coalesce(expires_in::text, 'NULL')
      using errcode = 'PM002', hint = 'Pass expires_in of at most 10 years, such as "90 days".';
  end if;

  return query
  insert into memory.access_tokens as t
    (tenant_id, name, token_digest, role, actor, created_at, expires_at)
  values (
    v_tenant_id, create_access_token.name, sha256(convert_to(v_token, 'UTF8')),
    create_access_token.role, v_actor, as_of, as_of + expires_in
  )
  returning t.id, v_token, t.expires_at;
end;
$$;

comment on function memory.create_access_token(text, text, text, interval, timestamptz) is
'Creates a bearer token for the tenant and returns it, only this once: only its digest is stored. '
'role: reader, writer (can also store), worker (also maintenance) or admin; actor: who acts with '
'it, for the audit (NULL: the name); expires_in: at most 10 years. Errors: PM002.';
grant execute on function memory.create_access_token to memory_admin;

create or replace function memory.list_access_tokens(as_of timestamptz default now())
  returns table (
    id uuid,
    name text,
    role text,
    actor text,
    status text,
    created_at timestamptz,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_on date
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    t.id, t.name, t.role, t.actor,
    case
      when t.revoked_at is not null then 'revoked'
      when t.expires_at <= as_of then 'expired'
      else 'active'
    end,
    t.created_at, t.expires_at, t.revoked_at, t.last_used_on
  from memory.access_tokens as t
  where t.tenant_id = memory.current_tenant()
  order by t.created_at desc, t.id;
end;
$$;

comment on function memory.list_access_tokens(timestamptz) is
'The tenant''s access tokens, newest first, without the tokens themselves. status: active, expired '
'or revoked. Errors: PM002.';
grant execute on function memory.list_access_tokens to memory_admin;

create or replace function memory.revoke_access_token(
  token_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_revoked_at timestamptz;
begin
  perform memory.check_write_time('as_of', as_of);
  select t.revoked_at into v_revoked_at
  from memory.access_tokens as t
  where t.tenant_id = v_tenant_id and t.id = token_id
  for no key update;
  if not found then
    return false;
  end if;
  if v_revoked_at is null then
    update memory.access_tokens as t
    set revoked_at = as_of
    where t.tenant_id = v_tenant_id and t.id = token_id;
  end if;
  return true;
end;
$$;

comment on function memory.revoke_access_token(uuid, timestamptz) is
'Revokes an access token: it is refused once this commits. Revoking it again changes nothing. '
'Returns whether the token exists. Errors: PM002.';
grant execute on function memory.revoke_access_token to memory_admin;

-- Digests need no constant-time comparison: how much of a stored digest matches reveals nothing
-- about a token with that digest.
create or replace function memory.authenticate_token(
  token_digest bytea,
  as_of timestamptz default now()
)
  returns table (
    token_id uuid,
    tenant_id text,
    role text,
    actor text,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  -- A day to come would hide all uses until then.
  v_today date := (least(as_of, now()) at time zone 'UTC')::date;
  v_token memory.access_tokens;
begin
  perform memory.check_time('as_of', as_of);
  -- A revoked token is refused at any as_of.
  select t.* into v_token
  from memory.access_tokens as t
  where t.tenant_id = v_tenant_id
    and t.token_digest = authenticate_token.token_digest
    and t.revoked_at is null
    and t.expires_at > as_of;
  if not found then
    return;
  end if;

  -- skip locked: a request never waits for another one or for a revocation.
  if coalesce(v_token.last_used_on, '-infinity') < v_today
    and memory.can_write()
  then
    update memory.access_tokens as t
    set last_used_on = v_today
    where t.tenant_id = v_tenant_id
      and t.id = (
        select n.id
        from memory.access_tokens as n
        where n.tenant_id = v_tenant_id and n.id = v_token.id
        for no key update skip locked
      );
  end if;

  return query
  select v_token.id, v_token.tenant_id, v_token.role, v_token.actor, v_token.expires_at;
end;
$$;

comment on function memory.authenticate_token(bytea, timestamptz) is
'The access token with this SHA-256 digest, within the current tenant; no row if it is unknown, '
'expired or revoked. For servers: a token is pymem_<tenant in hexadecimal>_<secret>; set that '
'tenant with set_request in the same transaction. Takes the digest so that no token appears in the '
'server log. Records the day of use, today at the latest. It answers for the time as_of: a server '
'that lets somebody in leaves it out. Errors: PM002.';
grant execute on function memory.authenticate_token
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
