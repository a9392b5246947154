-- Deploy pymem:functions/core/base/deployment to pg

begin;

set local role memory_owner;

-- The scripts of changes name roles and the schema of the extensions as if they were the same
-- everywhere; sql/prepare_deployment.sql gives them the names that they have in this database.

create or replace function memory.extension_schemas()
  returns name[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array_agg((parse_ident(s.name))[1]::name order by s.place)
  from unnest(string_to_array(current_setting('search_path'), ', '))
    with ordinality as s (name, place)
  where s.name not in ('pg_catalog', 'memory', 'pg_temp');
$$;

comment on function memory.extension_schemas() is
'The schemas in which functions look for the extensions vector and pg_trgm, first that of vector.';

create or replace function memory.has_extension(extension name)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select
    from pg_extension as e
    join pg_namespace as n on n.oid = e.extnamespace
    where e.extname = extension and n.nspname = any(memory.extension_schemas())
  );
$$;

comment on function memory.has_extension(name) is
'Whether an extension is installed where functions look for it.';
grant execute on function memory.has_extension to memory_search;
grant execute on function memory.extension_schemas to memory_search;

create or replace function memory.role_prefix()
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select substring(r.rolname from '^(.*)memory_[a-z]+$')
  from pg_namespace as n
  join pg_roles as r on r.oid = n.nspowner
  where n.nspname = 'memory';
$$;

comment on function memory.role_prefix() is
'What the names of the roles begin with in this database: empty, or a prefix such as acme_.';

commit;
