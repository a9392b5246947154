-- Prepares a session to deploy, revert or verify changes. Every bundle begins with it, and
-- scripts/sqitch-psql runs it for sqitch. It makes temporary functions and changes nothing else.
--
-- The scripts of changes name what differs between databases as if it were the same everywhere: the
-- extensions are in the schema public, the roles are memory_owner and so on. pg_temp.run_change
-- runs a script under the names of this database, and is the only place that knows them.
--
-- Variables of psql, or settings of the session, for the first deployment; afterwards the database
-- itself tells:
--
--   role_prefix        (pymem.role_prefix)        what the names of the roles begin with, such as acme_
--   extensions_schema  (pymem.extensions_schema)  where to create extensions that are missing: public

\if :{?role_prefix}
set pymem.role_prefix = :'role_prefix';
\endif
\if :{?extensions_schema}
set pymem.extensions_schema = :'extensions_schema';
\endif

create or replace function pg_temp.deployment_names(
  out role_prefix text,
  out vector_schema text,
  out trigram_schema text
)
  language plpgsql
  stable
as $$
declare
  -- The schemas of extensions that functions search, as they are quoted there.
  v_pinned text[] := (
    select array(
      select s.name
      from unnest(string_to_array(substring(c.setting from '^search_path=(.*)$'), ', '))
        with ordinality as s (name, place)
      where s.name not in ('pg_catalog', 'memory', 'pg_temp')
      order by s.place
    )
    from pg_catalog.pg_proc as p
    cross join lateral unnest(p.proconfig) as c (setting)
    where p.proname = 'current_tenant' and c.setting like 'search\_path=%'
      and p.pronamespace = (
        select n.oid from pg_catalog.pg_namespace as n where n.nspname = 'memory'
      )
  );
begin
  role_prefix := coalesce(
    (
      select substring(r.rolname from '^(.*)memory_owner$')
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
      where n.nspname = 'memory'
    ),
    current_setting('pymem.role_prefix', true),
    ''
  );
  vector_schema := coalesce(
    v_pinned[1],
    (
      select quote_ident(n.nspname)
      from pg_catalog.pg_extension as e
      join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
      where e.extname = 'vector'
    ),
    quote_ident(nullif(current_setting('pymem.extensions_schema', true), '')),
    'public'
  );
  trigram_schema := coalesce(
    v_pinned[2],
    (
      select quote_ident(n.nspname)
      from pg_catalog.pg_extension as e
      join pg_catalog.pg_namespace as n on n.oid = e.extnamespace
      where e.extname = 'pg_trgm' and v_pinned is null
    ),
    vector_schema
  );
end;
$$;

comment on function pg_temp.deployment_names() is
'The names that scripts are run under: what roles begin with, and the schemas of vector and '
'pg_trgm, quoted. Those of the memory in this database, if there is one; else where the extensions '
'are, and what the settings of the session say.';

create or replace procedure pg_temp.run_change(script text)
  language plpgsql
as $$
declare
  v_names record := pg_temp.deployment_names();
  v_path text := concat_ws(
    ', ',
    'pg_catalog, memory', v_names.vector_schema,
    nullif(v_names.trigram_schema, v_names.vector_schema), 'pg_temp'
  );
begin
  if v_names.role_prefix <> '' then
    script := regexp_replace(
      script,
      '\mmemory_(?=(owner|search|writer|worker|reader|admin|gateway)\M)',
      v_names.role_prefix || 'memory_',
      'g'
    );
  end if;
  if v_names.vector_schema <> 'public' or v_names.trigram_schema <> 'public' then
    script := replace(script, 'pg_catalog, memory, public, pg_temp', v_path);
    script := regexp_replace(
      script, '\mpublic\.(?=vector|halfvec|l2_normalize)', v_names.vector_schema || '.', 'g'
    );
    script := regexp_replace(
      script, '\mpublic\.(?=gin_trgm_ops)', v_names.trigram_schema || '.', 'g'
    );
    script := replace(
      script, 'vector with schema public', 'vector with schema ' || v_names.vector_schema
    );
    script := replace(
      script, 'pg_trgm with schema public', 'pg_trgm with schema ' || v_names.trigram_schema
    );
  end if;
  -- SQL bodies and types are looked up now, as in functions that pin this path.
  perform set_config('search_path', v_path, true);
  perform set_config('client_min_messages', 'warning', true);
  execute script;
end;
$$;

comment on procedure pg_temp.run_change(text) is
'Runs the script of a change, without its transaction, under the names of this database: see '
'pg_temp.deployment_names.';
