-- Deploy pymem:functions/extras/operations/examine_database to pg

begin;

set local role memory_owner;

create or replace function memory.counted(
  number bigint,
  noun text
)
  returns text
  language sql
  immutable
  parallel safe
  return format(
    '%s %s',
    to_char(number, 'FM999,999,999,999,990'),
    case when number = 1 then noun else regexp_replace(noun, '(?<![aeo])y$', 'ie') || 's' end
  );

comment on function memory.counted(bigint, text) is
'A number with its noun, such as "1 memory" or "1,200 memories".';

create or replace function memory.age_in_words(
  earlier timestamptz,
  later timestamptz
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when later - earlier >= interval '48 hours'
      then memory.counted(floor(memory.days_between(earlier, later))::bigint, 'day')
    when later - earlier >= interval '2 hours'
      then memory.counted(floor(24 * memory.days_between(earlier, later))::bigint, 'hour')
    else memory.counted(floor(1440 * memory.days_between(earlier, later))::bigint, 'minute')
  end;

comment on function memory.age_in_words(timestamptz, timestamptz) is
'How long ago a time was, such as "3 days" or "20 minutes": whole units, rounded down.';

create or replace function memory.examine_login(tenant_id text)
  returns setof memory.finding
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bound_to text := (
    select l.tenant_id from memory.tenant_logins as l where l.login = session_user
  );
  v_is_superuser boolean := (select r.rolsuper from pg_roles as r where r.rolname = session_user);
  v_is_gateway boolean := pg_has_role(session_user, 'memory_gateway', 'member');
begin
  -- Roles that bypass row security; a superuser counts as a member of every role.
  return query
  select
    'error', 'login', r.rolname::text,
    case
      when r.rolname <> session_user
      then format(
        'the login %I can become %I, which bypasses row security', session_user, r.rolname
      )
      when r.rolsuper
      then format('the login %I is a superuser, which bypasses row security', session_user)
      else format('the login %I has BYPASSRLS and bypasses row security', session_user)
    end,
    'Use it only to deploy and repair; give applications a login of their own '
    '(sql/grant_login.sql).'
  from pg_roles as r
  where (r.rolsuper or r.rolbypassrls)
    and case
      when v_is_superuser then r.rolname = session_user
      else pg_has_role(session_user, r.oid, 'member')
    end;

  return query
  select
    'error', 'login', o.role,
    format('the login %I is a member of %s, which %s', session_user, o.role, o.power),
    'Use it only to deploy and repair; give applications a login of their own '
    '(sql/grant_login.sql).'
  from (values
    ('memory_owner', 'can change tables and turn off the audit'),
    ('memory_search', 'can read the memories of every tenant')
  ) as o (role, power)
  where not v_is_superuser and pg_has_role(session_user, o.role, 'member');

  return query
  select
    'error', 'login', format('schema %I', n.nspname),
    format(
      'the login %I owns the schema %I, which functions search: what it creates there may run '
      'as memory_owner',
      session_user, n.nspname
    ),
    'Use it only to deploy and repair; give applications a login of their own '
    '(sql/grant_login.sql).'
  from pg_namespace as n
  where n.nspname = any(memory.extension_schemas())
    and pg_has_role(session_user, n.nspowner, 'member')
    and not pg_has_role(session_user, 'memory_owner', 'member');

  return query
  select
    case when v_is_gateway then 'warning' else 'error' end, 'login', session_user::text,
    case
      when v_is_gateway
      then 'no tenant is set, so only the database was checked, not the memories'
      else format('the login %I is not bound to a tenant, so every call is refused', session_user)
    end,
    case
      when v_is_gateway
      then 'Call memory.set_request(tenant_id => ...) first, in the same transaction.'
      else 'Ask an administrator to bind it to one with sql/grant_login.sql.'
    end
  where examine_login.tenant_id is null;

  return query
  select
    'info', 'login', 'memory_gateway',
    format(
      'the login %I is bound to tenant %s, so its role memory_gateway has no effect',
      session_user, quote_literal(v_bound_to)
    ),
    'Revoke the role, or unbind the login to let it set tenants: memory.unbind_login.'
  where v_bound_to is not null and v_is_gateway and not v_is_superuser;
end;
$$;

comment on function memory.examine_login(text) is
'Problems with the login of this session: too many rights, or no access to a tenant (tenant_id '
'NULL: it has none).';

create or replace function memory.examine_server(server_version_num integer)
  returns setof memory.finding
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select
    'error', 'server', 'PostgreSQL',
    format('PostgreSQL %s is too old for pymem', server_version_num / 10000),
    'Use PostgreSQL 15 or later.'
  where server_version_num < 150000;

  return query
  select p.severity, 'server', 'vector', p.message, p.hint
  from pg_extension as e
  join pg_namespace as n on n.oid = e.extnamespace
  left join pg_available_extensions as a on a.name = e.extname
  cross join lateral (
    values
    (
      string_to_array(substring(e.extversion from '^[0-9]+(?:\.[0-9]+)*'), '.')::integer[]
        < array[0, 7],
      'error',
      format('pgvector %s is too old for pymem', e.extversion),
      'Install pgvector 0.7 or later, then: alter extension vector update;'
    ),
    (
      not memory.has_extension('vector'),
      'error',
      format('the extension vector is in schema %I, which functions do not search', n.nspname),
      format(
        'Move it back: alter extension vector set schema %I;', (memory.extension_schemas())[1]
      )
    ),
    (
      a.default_version <> e.extversion,
      'info',
      format('pgvector %s is installed, and %s is available', e.extversion, a.default_version),
      'Update it: alter extension vector update;'
    )
  ) as p (applies, severity, message, hint)
  where e.extname = 'vector' and p.applies;

  return query
  select
    'error', 'server', format('schema %I', n.nspname),
    format('memory_owner may not use the schema %I, where the extensions are', n.nspname),
    format('grant usage on schema %I to memory_owner, memory_search;', n.nspname)
  from pg_namespace as n
  where n.nspname = any(memory.extension_schemas())
    and not (
      has_schema_privilege('memory_owner', n.oid, 'usage')
      and has_schema_privilege('memory_search', n.oid, 'usage')
    )
  order by n.nspname;

  return query
  select
    'info', 'server', 'pg_trgm',
    case
      when n.nspname is null
      then 'the extension pg_trgm is not installed: entities are not found by similar names'
      else format(
        'the extension pg_trgm is in schema %I, which functions do not search: entities are not '
        'found by similar names',
        n.nspname
      )
    end,
    format(
      case
        when n.nspname is null
        then 'If similar names should be found: create extension pg_trgm with schema %I;'
        else 'If similar names should be found: alter extension pg_trgm set schema %I;'
      end,
      s.schemas[cardinality(s.schemas)]
    )
  from (values ('pg_trgm')) as x (name)
  cross join memory.extension_schemas() as s (schemas)
  left join pg_extension as e on e.extname = x.name
  left join pg_namespace as n on n.oid = e.extnamespace
  where not memory.has_extension('pg_trgm');
end;
$$;

comment on function memory.examine_server(integer) is
'Problems with the version of PostgreSQL (server_version_num) and its extensions.';

create or replace function memory.examine_row_security()
  returns setof memory.finding
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    'error', 'row_security', format('memory.%I', c.relname),
    format(
      'row security is not %s',
      case when c.relrowsecurity then 'forced on the owner' else 'enabled' end
    ),
    format(
      'alter table memory.%I enable row level security, force row level security;', c.relname
    )
  from pg_class as c
  where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')
    and not (c.relrowsecurity and c.relforcerowsecurity)
  union all
  -- Except tenant_logins and tenant_moves: only their owner may read them, and they determine the
  -- tenant.
  select
    'error', 'row_security', format('memory.%I', c.relname),
    'no policy restricts a tenant to its own rows',
    format(
      'drop policy if exists tenant on memory.%1$I; '
      'drop policy if exists deletion on memory.%1$I; '
      'drop policy if exists access on memory.%1$I; '
      'select memory.isolate_table(%1$L);',
      c.relname
    )
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id'
  where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')
    and c.relname not in ('tenant_logins', 'tenant_moves')
    and not exists (
      select from pg_policy as p
      where p.polrelid = c.oid and not p.polpermissive and p.polcmd = '*'
        and p.polroles @> array[
          'memory_owner', 'memory_writer', 'memory_worker', 'memory_reader', 'memory_admin',
          'memory_gateway'
        ]::regrole[]::oid[]
        and pg_get_expr(p.polqual, p.polrelid) ~ '^\(tenant_id = .*\mcurrent_tenant\(\)'
        and pg_get_expr(p.polwithcheck, p.polrelid) ~ '^\(+tenant_id = .*\mcurrent_tenant\(\)'
    );
$$;

comment on function memory.examine_row_security() is
'Tables that no longer separate the tenants.';

create or replace function memory.examine_guards()
  returns setof memory.finding
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    'error', 'guards', 'triggers', g.detail,
    'What was written in the meantime left no event: review it (memory.verify_chain), then '
    'recreate the trigger as in deploy/, or drop the rule.'
  from memory.check_guards() as g
  union all
  select
    'error', 'guards', 'session_replication_role',
    'triggers do not fire in this session: its writes leave no event and queue no embedding',
    'reset session_replication_role; and see in pg_db_role_setting where it is set.'
  where current_setting('session_replication_role') = 'replica';
$$;

comment on function memory.examine_guards() is
'What allows writes to bypass the audit: see memory.check_guards.';

create or replace function memory.examine_definitions()
  returns setof memory.finding
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    case when s.problem in ('added', 'unknown') then 'warning' else 'error' end,
    'definitions', s.kind, s.summary,
    'If nobody meant it (memory.check_definitions lists all), restore it as in deploy/ or from a '
    'backup. If it is meant, as owner of the schema: select memory.record_definitions();'
  from memory.summarize_definitions() as s;
$$;

comment on function memory.examine_definitions() is
'What differs from the schema as deployed: see memory.check_definitions.';

create or replace function memory.examine_privileges(
  tenant_id text,
  server_version_num integer
)
  returns setof memory.finding
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select
    'error', 'privileges', r.rolname::text,
    format('the role %I can log in or has cluster-wide rights', r.rolname),
    format('alter role %I nologin nosuperuser nobypassrls nocreaterole;', r.rolname)
  from pg_roles as r
  where r.rolname in (
      'memory_owner', 'memory_search', 'memory_writer', 'memory_worker', 'memory_reader',
      'memory_admin', 'memory_gateway'
    )
    and (r.rolcanlogin or r.rolsuper or r.rolbypassrls or r.rolcreaterole);

  return query
  with objects as (
    select
      format('memory.%I', c.relname) as name, c.relowner as owner,
      coalesce(c.relacl, acldefault('r', c.relowner)) as acl
    from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
    union all
    select
      format('memory.%I()', p.proname), p.proowner,
      coalesce(p.proacl, acldefault('f', p.proowner))
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
    union all
    select 'schema memory', n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
    from pg_namespace as n
    where n.nspname = 'memory'
  )
  select
    'error', 'privileges', 'public',
    format('everyone can use %s', memory.enumerate(array_agg(o.name order by o.name))),
    'Revoke it from public, and repeat the grants in deploy/privileges.sql.'
  from objects as o
  where exists (select from aclexplode(o.acl) as a where a.grantee = 0)
  having count(*) > 0
  union all
  select
    'warning', 'privileges', o.owner::regrole::text,
    format(
      'the role %s owns, and so can change or runs, %s',
      o.owner::regrole, memory.enumerate(array_agg(o.name order by o.name))
    ),
    'Keep additions in a separate schema, or make memory_owner their owner.'
  from objects as o
  where o.owner not in ('memory_owner'::regrole, 'memory_search'::regrole)
  group by o.owner;

  -- Functions find the extensions in these schemas, and everything else in them. Their owners are
  -- not checked here, because in most databases that is the deployer.
  return query
  select distinct
    'error', 'privileges', format('schema %I', n.nspname),
    format(
      '%s can create objects in the schema %I, which functions search, and so run code as '
      'memory_owner',
      case when a.grantee = 0 then 'everyone' else format('the role %s', a.grantee::regrole) end,
      n.nspname
    ),
    format(
      'revoke create on schema %I from %s cascade;',
      n.nspname, case when a.grantee = 0 then 'public' else a.grantee::regrole::text end
    )
  from pg_namespace as n
  cross join lateral aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as a
  where n.nspname = any(memory.extension_schemas())
    and a.privilege_type = 'CREATE' and a.grantee <> n.nspowner
    and (a.grantee = 0 or not pg_has_role(a.grantee, 'memory_owner', 'member'));

  -- A tenant sees only its own logins.
  return query
  select
    'warning', 'privileges', l.login::text,
    format(
      'the login %I of tenant %L was dropped but is still bound: the next login of that name gets '
      'the tenant',
      l.login, l.tenant_id
    ),
    format('As owner of the schema: select memory.unbind_login(%L);', l.login)
  from memory.tenant_logins as l
  where (
      l.tenant_id = examine_privileges.tenant_id
      or pg_has_role(session_user, 'memory_owner', 'member')
    )
    and not exists (select from pg_roles as r where r.rolname = l.login);

  return query
  select
    'warning', 'privileges', r.rolname::text,
    format(
      'the role %I has CREATEROLE and, before PostgreSQL 16, can grant itself memory_owner',
      r.rolname
    ),
    format('Upgrade PostgreSQL, or: alter role %I nocreaterole;', r.rolname)
  from pg_roles as r
  where server_version_num < 160000
    and r.rolcreaterole and not r.rolsuper
    and not pg_has_role(r.oid, 'memory_owner', 'member')
    and exists (
      select from pg_roles as l
      where l.rolcanlogin and not l.rolsuper and pg_has_role(l.oid, r.oid, 'member')
    );
end;
$$;

comment on function memory.examine_privileges(text, integer) is
'Roles, owners and privileges that differ from the deployment, for example after a restore, and '
'roles that could gain those of the owner: through the schemas of extensions or, by '
'server_version_num, CREATEROLE. Also bindings of dropped logins: those of the tenant, or all for '
'the owner.';

create or replace function memory.examine_indexes()
  returns setof memory.finding
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    -- Without a unique index nothing enforces its key.
    case when i.repair ~* '^(create unique|alter table)' then 'error' else 'warning' end,
    'indexes', i.index_name, format('the index is %s', i.problem),
    format('As owner of the schema, outside a transaction: %s;', i.repair)
  from memory.check_indexes() as i;
$$;

comment on function memory.examine_indexes() is 'What memory.check_indexes finds.';

create or replace function memory.examine_moves(
  tenant_id text,
  as_of timestamptz
)
  returns setof memory.finding
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_sees_all boolean := pg_has_role(session_user, 'memory_owner', 'member');
begin
  return query
  select
    'warning', 'moves', m.tenant_id,
    format(
      'tenant %L is on its way %s %s, and %s for %s', m.tenant_id,
      case m.side when 'source' then 'to' else 'from' end, coalesce(m.peer, 'nowhere'), m.step,
      memory.age_in_words(m.step_at, as_of)
    ),
    'Run the same pymem tenant move again, or undo it with --undo.'
  from memory.tenant_moves as m
  where m.step not in ('kept', 'deleted')
    and m.step_at < as_of - interval '1 hour'
    and (m.tenant_id = examine_moves.tenant_id or v_sees_all);

  return query
  select
    'warning', 'moves', s.slot_name::text,
    format('the replication slot %I, which nobody uses, keeps the write-ahead log', s.slot_name),
    format('If no move goes on: select pg_drop_replication_slot(%L);', s.slot_name)
  from pg_replication_slots as s
  where s.slot_name like 'pymem\_move\_%' and not s.active
    and s.database = current_database()
    and v_sees_all
    and not exists (
      select from memory.tenant_moves as m
      where 'pymem_move_' || replace(m.move_id::text, '-', '') = s.slot_name
    );
end;
$$;

comment on function memory.examine_moves(text, timestamptz) is
'Moves of tenants to other servers that stopped half-way more than an hour ago: that of the '
'tenant, or all for the owner, and replication slots that a move has left behind.';

create or replace function memory.examine_statistics()
  returns setof memory.finding
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    'warning', 'statistics', s.name,
    'autovacuum is off: dead rows accumulate, and plans rely on old statistics',
    format('Set %s = on in postgresql.conf.', s.name)
  from unnest('{autovacuum,track_counts}'::text[]) as s (name)
  where current_setting(s.name) = 'off'
  union all
  select
    'warning', 'statistics', format('memory.%I', c.relname),
    'autovacuum is off for this table',
    format('alter table memory.%I reset (autovacuum_enabled);', c.relname)
  from pg_class as c
  where c.relnamespace = 'memory'::regnamespace
    and exists (
      select from pg_options_to_table(c.reloptions) as o
      where o.option_name = 'autovacuum_enabled' and not o.option_value::boolean
    )
  union all
  select
    'warning', 'statistics', format('memory.%I', c.relname),
    'the table is large and was never analyzed, so plans are guesses',
    format('As owner of the schema: analyze memory.%I;', c.relname)
  from pg_class as c
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
    and c.reltuples < 0
    and pg_relation_size(c.oid) > 8 * 1024 * 1024
  union all
  select
    'warning', 'statistics', format('memory.%I', s.relname),
    'more than half of its rows are dead: autovacuum does not keep up',
    format(
      'As owner of the schema: vacuum (analyze) memory.%I; and look for old transactions in '
      'pg_stat_activity.',
      s.relname
    )
  from pg_stat_all_tables as s
  where s.schemaname = 'memory' and s.n_dead_tup > greatest(s.n_live_tup, 50000);
$$;

comment on function memory.examine_statistics() is
'Tables that autovacuum does not maintain.';

commit;
