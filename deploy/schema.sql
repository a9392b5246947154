-- Deploy pymem:schema to pg

begin;

do $$
begin
  if current_setting('server_version_num')::integer < 150000 then
    raise exception 'PostgreSQL % is too old for pymem', current_setting('server_version')
      using errcode = '0A000', hint = 'Use PostgreSQL 15 or later.';
  end if;
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'the encoding of database % is %',
      current_database(), current_setting('server_encoding')
      using errcode = '0A000', hint = 'Create the database with encoding UTF8.';
  end if;
end;
$$;

create extension if not exists vector with schema public;

do $$
declare
  v_version text;
  v_schema name;
begin
  select e.extversion, n.nspname into v_version, v_schema
  from pg_catalog.pg_extension as e
  join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
  where e.extname = 'vector';

  if string_to_array(v_version, '.')::integer[] < array[0, 7] then
    raise exception 'pgvector % is too old for pymem', v_version
      using errcode = '0A000',
        hint = 'Install pgvector 0.7 or later, then: alter extension vector update;';
  end if;
  -- Functions pin their search_path, so the type must be in a known schema.
  if v_schema <> 'public' then
    raise exception 'the extension vector is installed in schema %', v_schema
      using errcode = '0A000', hint = 'Move it: alter extension vector set schema public;';
  end if;
  -- For the same reason: a function that anyone creates in public, and that fits a call better than
  -- the built-in one, would run with the rights of memory_owner. Databases created before
  -- PostgreSQL 15 allow this.
  if exists (
    select
    from pg_catalog.pg_namespace as n
    cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
    where n.nspname = 'public' and a.grantee = 0 and a.privilege_type = 'CREATE'
  ) then
    raise exception 'everybody may create objects in the schema public'
      using errcode = '0A000',
        hint = 'First run: revoke create on schema public from public; '
          'then grant it only to roles that need it, never to a login that uses pymem.';
  end if;
end;
$$;

-- Only fuzzy name resolution needs pg_trgm; everything else works without it.
do $$
begin
  if exists (select from pg_catalog.pg_available_extensions as e where e.name = 'pg_trgm')
    and pg_catalog.has_database_privilege(current_database(), 'create')
  then
    create extension if not exists pg_trgm with schema public;
  end if;
end;
$$;

create schema memory authorization memory_owner;

comment on schema memory is
'Long-term memory for AI agents: episodes, facts and rules, with provenance, decay, search and '
'audit.';

-- PUBLIC gets nothing, now or later; deploy/privileges.sql grants what each role needs.
revoke all on schema memory from public;

alter default privileges for role memory_owner, memory_search
revoke execute on functions from public;

alter default privileges for role memory_owner revoke usage on types from public;

commit;
