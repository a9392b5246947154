-- Checks what a deployment needs, before anything is changed: after sql/prepare_deployment.sql. It makes
-- temporary functions and changes nothing else.

create or replace function pg_temp.try_extension(
  extension name,
  extension_schema name
)
  returns text
  language plpgsql
as $$
declare
  v_message text;
begin
  -- Who may create an extension is up to the service, so nothing but trying tells.
  begin
    execute format('create extension %I with schema %I', extension, extension_schema);
    raise exception using errcode = 'PM000'; -- takes it back
  exception
    when others then
      get stacked diagnostics v_message = message_text;
      return case when sqlstate <> 'PM000' then v_message end;
  end;
end;
$$;

comment on function pg_temp.try_extension(name, name) is
'Why this role cannot create an extension, or NULL if it can; it is not created.';

create or replace function pg_temp.check_deployment()
  returns table (
    severity text,
    requirement text,
    message text,
    remedy text,
    run_by text
  )
  language plpgsql
as $$
#variable_conflict use_column
declare
  v_version integer := current_setting('server_version_num')::integer;
  v_me record;
  v_names record := pg_temp.deployment_names();
  v_prefix text := v_names.role_prefix;
  v_wanted text := current_setting('pymem.role_prefix', true);
  v_schema name := (parse_ident(v_names.vector_schema))[1];
  v_trigram_schema name := (parse_ident(v_names.trigram_schema))[1];
  v_administrator text := 'a superuser or the administrator role of the service';
  v_database_owner text;
  v_memory record;
  v_vector record;
  v_set text := case when v_version < 160000 then 'member' else 'set' end;
  v_failure text;
begin
  select r.oid, r.rolname as name, r.rolsuper, r.rolcreaterole, r.rolinherit into v_me
  from pg_catalog.pg_roles as r
  where r.rolname = current_user;
  select quote_ident(r.rolname) into v_database_owner
  from pg_catalog.pg_database as d
  join pg_catalog.pg_roles as r on r.oid = d.datdba
  where d.datname = current_database();
  select
    n.oid, r.rolname as owner, r.rolname ~ 'memory_owner$' as has_owner,
    r.rolname ~ 'memory_owner$' or exists (
      select from pg_catalog.pg_proc as p where p.pronamespace = n.oid and p.proname = 'version'
    ) as is_ours
  into v_memory
  from pg_catalog.pg_namespace as n
  join pg_catalog.pg_roles as r on r.oid = n.nspowner
  where n.nspname = 'memory';
  select
    e.extversion as version, quote_ident(r.rolname) as owner,
    string_to_array(substring(e.extversion from '^[0-9]+(?:\.[0-9]+)*'), '.')::integer[]
      < array[0, 7] as is_old
  into v_vector
  from pg_catalog.pg_extension as e
  join pg_catalog.pg_roles as r on r.oid = e.extowner
  where e.extname = 'vector';

  -- The names, without which nothing else can be said

  if v_prefix !~ '^([a-z_][a-z0-9_]{0,31})?$' or v_prefix like 'pg\_%' then
    return query
    select
      'error', 'role prefix', format('%L cannot begin the names of roles', v_prefix),
      'Take up to 32 lower-case letters, digits and underscores, such as acme_.', 'the deployer';
    return;
  end if;
  if v_schema !~ '^[[:alpha:]_][[:alnum:]_ -]*$'
    or v_trigram_schema !~ '^[[:alpha:]_][[:alnum:]_ -]*$'
  then
    return query
    select
      'error', 'extension schema',
      format('%s cannot be searched for extensions: its name has other characters than letters, '
        'digits, underscores, hyphens and spaces', v_names.vector_schema),
      format('alter extension vector set schema extensions;'), v_administrator;
    return;
  end if;

  -- The server and the database

  return query
  select
    'error', 'server', format('PostgreSQL %s is too old for pymem', current_setting('server_version')),
    'Use PostgreSQL 15 or later.', 'the operator of the server'
  where v_version < 150000;
  return query
  select
    'error', 'encoding',
    format('the encoding of database %I is %s', current_database(), current_setting('server_encoding')),
    'create database … encoding ''UTF8'' template template0;', 'a role that may create databases'
  where current_setting('server_encoding') <> 'UTF8';
  return query
  select
    'error', 'database',
    format('%I may not create schemas in database %I', v_me.name, current_database()),
    format('grant create on database %I to %I;', current_database(), v_me.name),
    format('the owner of the database (%s) or a superuser', v_database_owner)
  where v_memory is null and not has_database_privilege(current_database(), 'create');

  -- The extensions

  if v_vector is not null and v_vector.is_old then
    return query
    select
      'error', 'extension vector', format('pgvector %s is too old for pymem', v_vector.version),
      'alter extension vector update; -- to 0.7 or later, which has to be installed on the server',
      format('the owner of the extension (%s) or a superuser', v_vector.owner);
  elsif v_vector is null and not exists (
    select from pg_catalog.pg_available_extensions as a where a.name = 'vector'
  ) then
    return query
    select
      'error', 'extension vector', 'the server lacks the extension vector',
      'Install pgvector 0.7 or later on the server, or allow it in the service.',
      'the operator of the server';
  elsif v_vector is null and not exists (
    select from pg_catalog.pg_namespace as n where n.nspname = v_schema
  ) then
    return query
    select
      'error', 'extension schema',
      format('there is no schema %I to create the extension vector in', v_schema),
      format('create schema %I;', v_schema),
      format('the owner of the database (%s) or a superuser', v_database_owner);
  elsif v_vector is null then
    v_failure := pg_temp.try_extension('vector', v_schema);
    return query
    select
      'error', 'extension vector',
      format('%I cannot create the extension vector: %s', v_me.name, v_failure),
      format('create extension vector with schema %I;', v_schema), v_administrator
    where v_failure is not null;
  end if;
  if not exists (select from pg_catalog.pg_extension as e where e.extname = 'pg_trgm') then
    v_failure := case
      when not exists (
        select from pg_catalog.pg_available_extensions as a where a.name = 'pg_trgm'
      )
      then 'the server lacks it'
      when exists (select from pg_catalog.pg_namespace as n where n.nspname = v_trigram_schema)
      then pg_temp.try_extension('pg_trgm', v_trigram_schema)
    end;
    return query
    select
      'warning', 'extension pg_trgm',
      format(
        'the extension pg_trgm cannot be created, so entities are not found by similar names: %s',
        v_failure
      ),
      format('create extension pg_trgm with schema %I;', v_trigram_schema), v_administrator
    where v_failure is not null;
  end if;

  -- Functions search these schemas, with the rights of the owner: it must be able to, and what
  -- somebody else creates there could run with its rights.
  return query
  select f.severity, 'extension schema', f.message, f.remedy,
    format(
      'the owner of the schema (%s) or a superuser',
      case r.rolname when 'pg_database_owner' then v_database_owner else quote_ident(r.rolname) end
    )
  from pg_catalog.pg_namespace as n
  join pg_catalog.pg_roles as r on r.oid = n.nspowner
  cross join lateral (
    select
      'error' as severity,
      format('everybody may create objects in the schema %I', n.nspname) as message,
      format(
        'revoke create on schema %I from public; -- then grant it to those who need it, never to a '
        'login that uses pymem',
        n.nspname
      ) as remedy
    where exists (
      select
      from aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
      where a.grantee = 0 and a.privilege_type = 'CREATE'
    )
    union all
    select
      'warning',
      format(
        '%s may create objects in the schema %I, which functions search, and so run code as %s',
        a.grantee::regrole, n.nspname, v_prefix || 'memory_owner'
      ),
      format('revoke create on schema %I from %s;', n.nspname, a.grantee::regrole)
    from aclexplode(n.nspacl) as a
    join pg_catalog.pg_roles as g on g.oid = a.grantee
    where a.privilege_type = 'CREATE' and a.grantee not in (n.nspowner, v_me.oid)
      and not g.rolsuper and g.rolname <> v_prefix || 'memory_owner'
    union all
    select
      'error',
      format('%I may not let the memory''s roles use the schema %I', v_me.name, n.nspname),
      format('grant usage on schema %I to %I with grant option;', n.nspname, v_me.name)
    where not has_schema_privilege(n.oid, 'usage with grant option')
      and not exists (
        select
        from aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
        where a.grantee = 0 and a.privilege_type = 'USAGE'
      )
      and exists (
        select
        from unnest('{owner,search,writer,worker,reader,admin,gateway}'::text[]) as k (kind)
        left join pg_catalog.pg_roles as o on o.rolname = v_prefix || 'memory_' || k.kind
        where o.oid is null or not has_schema_privilege(o.oid, n.oid, 'usage')
      )
  ) as f
  where n.nspname in (v_schema, v_trigram_schema)
  order by n.nspname, f.severity, f.message;

  -- The roles

  return query
  with roles as (
    select
      v_prefix || 'memory_' || k.kind as name, k.place, r.oid,
      k.kind in ('owner', 'search', 'gateway') as is_acted_as,
      r.rolcanlogin or r.rolsuper or r.rolcreaterole or r.rolbypassrls as is_powerful,
      shobj_description(r.oid, 'pg_authid') like 'pymem:%' as is_ours,
      pg_has_role(r.oid, 'usage') and pg_has_role(r.oid, v_set) as may_act,
      pg_has_role(r.oid, 'member with admin option')
        or v_me.rolsuper or v_me.rolcreaterole and v_version < 160000 as may_grant
    from unnest('{owner,search,writer,worker,reader,admin,gateway}'::text[])
      with ordinality as k (kind, place)
    left join pg_catalog.pg_roles as r on r.rolname = v_prefix || 'memory_' || k.kind
  ),
  administrators as (
    select coalesce(
        'an administrator of these roles ('
          || string_agg(distinct quote_ident(m.rolname), ', ') || ') or ', ''
      ) || 'a superuser' as names
    from pg_catalog.pg_auth_members as a
    join pg_catalog.pg_roles as m on m.oid = a.member
    where a.admin_option and not m.rolsuper and m.oid <> v_me.oid
      and a.roleid in (select r.oid from roles as r)
  )
  select
    'error', 'role ' || r.name,
    format('the role %s can log in or has rights in the whole cluster: it is not a role of pymem',
      r.name),
    format(
      'alter role %I nologin nosuperuser nocreaterole nobypassrls; -- if nothing else uses it, else '
      'take a role prefix',
      r.name
    ),
    'a superuser'
  from roles as r
  where r.is_powerful
  union all
  (
    select
      'error', 'create role',
      format(
        '%I may not create roles, and these are missing: %s', v_me.name,
        string_agg(r.name, ', ' order by r.place)
      ),
      format('alter role %I createrole;', v_me.name), v_administrator
    from roles as r
    where r.oid is null and not v_me.rolsuper and not v_me.rolcreaterole
    having count(*) > 0
  )
  union all
  -- Since PostgreSQL 16 each membership says so itself.
  select
    'error', 'membership',
    format('%I does not inherit the rights of the roles that it is a member of', v_me.name),
    format('alter role %I inherit;', v_me.name), v_administrator
  where v_version < 160000 and not v_me.rolsuper and not v_me.rolinherit
  union all
  (
    select
      'error', 'membership',
      format(
        '%I is not a member, or not one that can act as such, of %s', v_me.name,
        string_agg(r.name, ', ' order by r.place)
      ),
      format(
        'grant %s to %I%s;',
        string_agg(quote_ident(r.name), ', ' order by r.place), v_me.name,
        case when v_version >= 160000 then ' with inherit true, set true' else '' end
      ),
      (select a.names from administrators as a)
    from roles as r
    where r.oid is not null and r.is_acted_as and not r.may_act and not r.may_grant
    having count(*) > 0
  )
  union all
  (
    select
      'warning', 'grants',
      format(
        '%I may not grant these roles to logins: %s', v_me.name,
        string_agg(r.name, ', ' order by r.place)
      ),
      format(
        'grant %s to %I with admin option;',
        string_agg(quote_ident(r.name), ', ' order by r.place), v_me.name
      ),
      (select a.names from administrators as a)
    from roles as r
    where r.oid is not null and (not r.is_acted_as or r.name like '%gateway') and not r.may_grant
    having count(*) > 0
  )
  union all
  (
    select
      'warning', 'roles',
      format('these roles exist, but pymem has not made them: %s',
        string_agg(r.name, ', ' order by r.place)),
      'If they belong to something else, take a role prefix.', 'the deployer'
    from roles as r
    where r.oid is not null and r.is_ours is not true and v_memory is null
    having count(*) > 0
  )
  union all
  (
    select
      'info', 'roles',
      'the roles exist already in this cluster: who acts for the memory of another database by them, '
        || 'as its deployer or gateway, does so here too',
      'If that is not meant, take a role prefix, or: '
        || format('revoke connect on database %I from public;', current_database()),
      'the deployer'
    from roles as r
    where r.oid is not null and v_memory is null
    having count(*) > 0
  );

  -- The schema

  if v_memory is not null and not v_memory.is_ours then
    return query
    select
      'error', 'schema memory', 'the schema memory exists and is not that of pymem',
      'alter schema memory rename to other_memory; -- or deploy into another database',
      format('the owner of the schema (%I) or a superuser', v_memory.owner);
  elsif v_memory is not null and not v_memory.has_owner then
    return query
    select
      'error', 'schema memory',
      format('the schema memory belongs to %I instead of the role memory_owner', v_memory.owner),
      'Restore the memory with its owners and privileges.', 'a superuser';
  elsif v_memory is not null and v_wanted <> v_prefix then
    return query
    select
      'error', 'role prefix',
      format('the roles of this memory begin with %L, not %L', v_prefix, v_wanted),
      'Leave out the prefix: the database itself tells it.', 'the deployer';
  end if;
end;
$$;

comment on function pg_temp.check_deployment() is
'What the deployment needs and this role or database lacks, before anything is done. severity: '
'error, it would fail; warning, something will not work; info. remedy: a statement or what to do '
'else, and who can.';

create or replace procedure pg_temp.require_deployment()
  language plpgsql
as $$
declare
  v_missing record;
begin
  select
    count(*) as number,
    string_agg(c.message, '; ') as messages,
    string_agg(format('As %s: %s', c.run_by, c.remedy), ' ') as remedies
  into v_missing
  from pg_temp.check_deployment() as c
  where c.severity = 'error';
  if v_missing.number > 0 then
    raise exception '%', v_missing.messages
      using errcode = 'PM009', hint = v_missing.remedies;
  end if;
end;
$$;

comment on procedure pg_temp.require_deployment() is
'Raises what pg_temp.check_deployment finds. Errors: PM009.';
