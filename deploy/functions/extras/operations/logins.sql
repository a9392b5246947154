-- Deploy pymem:functions/extras/operations/logins to pg

begin;

set local role memory_owner;

-- Not granted to any role: binding decides what a login can see, so only the deployer may do it.
-- Runs with the rights of the invoker: the event names the deployer, in the tenant given here.

create or replace function memory.bind_login(
  login name,
  tenant_id text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  perform memory.check_text('login', bind_login.login::text, 63);
  perform memory.check_text('tenant_id', bind_login.tenant_id, 128);
  if not exists (
    select from pg_roles as r where r.rolname = bind_login.login and r.rolcanlogin
  ) then
    raise exception 'no login role is named %', quote_ident(bind_login.login)
      using errcode = 'PM001', hint = 'Create it first: create role ... login;';
  end if;
  if pg_has_role(bind_login.login, 'memory_gateway', 'usage') then
    raise exception 'login % has the role memory_gateway', quote_ident(bind_login.login)
      using errcode = 'PM002',
        hint = 'A login is either bound to one tenant or sets tenants as a gateway or superuser.';
  end if;

  perform memory.set_request(tenant_id => bind_login.tenant_id);
  perform memory.refuse_frozen(t.tenant_id)
  from (
    select bind_login.tenant_id
    union all
    select l.tenant_id from memory.tenant_logins as l where l.login = bind_login.login
  ) as t;
  insert into memory.tenant_logins as l (login, tenant_id)
  values (bind_login.login, bind_login.tenant_id)
  on conflict (login) do update set tenant_id = excluded.tenant_id
  where l.tenant_id <> excluded.tenant_id;
end;
$$;

comment on function memory.bind_login(name, text) is
'Binds a database login to a tenant: from then on it can act only for that tenant. For the '
'deployer. Errors: PM001 no such login role, PM002 a gateway or superuser, PM010 the tenant is '
'moving.';

create or replace function memory.grant_roles(
  login name,
  roles text[]
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_prefix text := memory.role_prefix();
  v_allowed text[] := array(
    select v_prefix || 'memory_' || k.kind
    from unnest('{writer,worker,reader,admin,gateway}'::text[]) as k (kind)
  );
  v_role text;
begin
  perform memory.check_text('login', login::text, 63);
  if coalesce(cardinality(roles), 0) = 0 then
    raise exception 'no roles are given'
      using errcode = 'PM002', hint = 'Pass some of ' || array_to_string(v_allowed, ', ') || '.';
  end if;
  foreach v_role in array roles loop
    v_role := v_prefix || regexp_replace(trim(v_role), '^' || v_prefix, '');
    if v_role = any(v_allowed) is not true then
      raise exception '% is no role of a login', quote_nullable(v_role)
        using errcode = 'PM002', hint = 'Pass some of ' || array_to_string(v_allowed, ', ') || '.';
    end if;
    begin
      execute format('grant %I to %I', v_role, login);
    exception
      when insufficient_privilege then
        raise exception '% may not grant the role %', current_user, v_role
          using errcode = 'PM009',
            hint = format(
              'As an administrator of the role or a superuser: grant %I to %I with admin option;',
              v_role, current_user
            );
    end;
  end loop;
end;
$$;

comment on function memory.grant_roles(name, text[]) is
'Grants roles of this memory to a login, and no others: any of memory_writer, memory_worker, '
'memory_reader, memory_admin and memory_gateway, named with or without the prefix that they have '
'here. For the deployer. Errors: PM002 another role, PM009 the deployer may not grant it.';

create or replace function memory.unbind_login(login name)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text;
begin
  select l.tenant_id into v_tenant_id
  from memory.tenant_logins as l
  where l.login = unbind_login.login
  for update;
  if not found then
    return false;
  end if;
  perform memory.set_request(tenant_id => v_tenant_id);
  perform memory.refuse_frozen(v_tenant_id);
  delete from memory.tenant_logins as l where l.login = unbind_login.login;
  return true;
end;
$$;

comment on function memory.unbind_login(name) is
'Unbinds a login from its tenant, removing all access. For the deployer. Returns whether it was '
'bound. Errors: PM010 the tenant is moving.';

create or replace function memory.current_login()
  returns table (
    login name,
    tenant_id text,
    is_gateway boolean,
    roles text[]
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := (
    select l.tenant_id from memory.tenant_logins as l where l.login = session_user
  );
  -- Since PostgreSQL 16 a membership may exclude SET ROLE.
  v_may text := case
    when current_setting('server_version_num')::integer < 160000 then 'member' else 'set'
  end;
begin
  return query
  select
    session_user,
    v_tenant_id,
    v_tenant_id is null and pg_has_role(session_user, 'memory_gateway', 'member'),
    array(
      select r.role
      from unnest('{memory_reader,memory_writer,memory_worker,memory_admin}'::text[])
        with ordinality as r (role, place)
      where pg_has_role(session_user, r.role, v_may)
      order by r.place
    );
end;
$$;

comment on function memory.current_login() is
'The rights of the login of this session: the tenant it is bound to, or whether it sets tenants as '
'a gateway (with neither, it can do nothing), and which client roles it may take with SET ROLE.';
grant execute on function memory.current_login
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
