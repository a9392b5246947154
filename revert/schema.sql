-- Revert pymem:schema from pg

begin;

alter default privileges for role memory_owner grant usage on types to public;
alter default privileges for role memory_owner, memory_search grant execute on functions to public;
drop schema memory;

-- The extensions stay: other schemas may use them.
do $$
declare
  v_schema name;
begin
  for v_schema in
    select distinct n.nspname
    from pg_catalog.pg_extension as e
    join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
    cross join lateral pg_catalog.aclexplode(n.nspacl) as a
    where e.extname in ('vector', 'pg_trgm') and a.grantee = 'memory_owner'::regrole
  loop
    execute format(
      'revoke usage on schema %I from memory_owner, memory_search, memory_writer, memory_worker, '
      'memory_reader, memory_admin, memory_gateway',
      v_schema
    );
  end loop;
end;
$$;

commit;
