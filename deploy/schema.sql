-- Deploy pymem:schema to pg

begin;

create extension if not exists vector with schema public;

-- Only fuzzy name resolution needs pg_trgm; everything else works without it.
do $$
begin
  if exists (select from pg_catalog.pg_available_extensions as e where e.name = 'pg_trgm') then
    create extension if not exists pg_trgm with schema public;
  end if;
exception
  when insufficient_privilege then
    null;
end;
$$;

-- Functions search the schemas of the extensions, which not every role may use.
do $$
declare
  v_schema name;
  v_roles text;
begin
  for v_schema, v_roles in
    select n.nspname, string_agg(r.rolname, ', ')
    from pg_catalog.pg_extension as e
    join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
    join pg_catalog.pg_roles as r on r.rolname in (
      'memory_owner', 'memory_search', 'memory_writer', 'memory_worker', 'memory_reader',
      'memory_admin', 'memory_gateway'
    )
    where e.extname in ('vector', 'pg_trgm')
      and not pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage')
    group by n.nspname
  loop
    execute format('grant usage on schema %I to %s', v_schema, v_roles);
  end loop;
end;
$$;

create schema memory authorization memory_owner;

comment on schema memory is
'Long-term memory for AI agents: episodes, facts, rules and entries, with provenance, decay, '
'search and audit.';

-- PUBLIC gets nothing, now or later; deploy/privileges.sql grants what each role needs.
revoke all on schema memory from public;

alter default privileges for role memory_owner, memory_search
revoke execute on functions from public;

alter default privileges for role memory_owner revoke usage on types from public;

commit;
