-- Deploy pymem:functions/extras/operations/definitions to pg

begin;

set local role memory_owner;

create or replace function memory.enumerate(names text[])
  returns text
  language sql
  immutable
  parallel safe
  return array_to_string(names[:3], ', ')
    || case
      when cardinality(names) > 3 then format(' and %s more', cardinality(names) - 3)
      else ''
    end;

comment on function memory.enumerate(text[]) is
'The first three of a list of names, and how many more there are.';

create or replace function memory.list_definitions()
  returns table (
    kind text,
    identity text,
    digest bytea,
    is_portable boolean
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- these decide how PostgreSQL writes definitions
  set datestyle = 'ISO'
  set intervalstyle = 'postgres'
  set extra_float_digits = 1
  set bytea_output = 'hex'
  set quote_all_identifiers = off
  set standard_conforming_strings = on
  set jit = off
as $$
#variable_conflict use_column
begin
  -- Until the end of the function: definitions are written with a path that qualifies every name.
  perform set_config('search_path', 'pg_catalog', true);
  return query
  with relations as (
    select c.oid, c.oid::regclass::text as name, c.relkind, c.relowner, c.relacl, c.reloptions
    from pg_class as c
    where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
  ),
  functions as (
    select p.*, p.oid::regprocedure::text as name
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
  ),
  -- Pretty-printed, because a dump and its restore add parentheses.
  definitions as (
    select
      'function' as kind, f.name as identity,
      concat_ws(
        E'\n',
        f.proowner::regrole,
        case when f.prokind <> 'a' then pg_get_functiondef(f.oid) end,
        g.aggtransfn::regprocedure, nullif(g.aggfinalfn, 0)::regprocedure,
        format_type(g.aggtranstype, null), g.agginitval
      ) as definition,
      f.prosqlbody is null as is_portable
    from functions as f
    left join pg_aggregate as g on g.aggfnoid = f.oid
    union all
    select
      'trigger', format('%I on %s', t.tgname, r.name),
      concat_ws(E'\n', t.tgenabled, pg_get_triggerdef(t.oid, true)), false
    from pg_trigger as t
    join relations as r on r.oid = t.tgrelid
    where not t.tgisinternal
    union all
    select
      'policy', format('%I on %s', p.polname, r.name),
      concat_ws(
        E'\n',
        p.polcmd, p.polpermissive,
        (select string_agg(o::regrole::text, ',' order by o::regrole::text collate "C")
         from unnest(p.polroles) as o),
        coalesce(pg_get_expr(p.polqual, p.polrelid, true), '-'),
        coalesce(pg_get_expr(p.polwithcheck, p.polrelid, true), '-')
      ),
      false
    from pg_policy as p
    join relations as r on r.oid = p.polrelid
    union all
    -- The query of a view is its rule _RETURN.
    select
      'rule', format('%I on %s', w.rulename, r.name),
      concat_ws(E'\n', w.ev_enabled, pg_get_ruledef(w.oid, true)), false
    from pg_rewrite as w
    join relations as r on r.oid = w.ev_class
    union all
    -- From PostgreSQL 18 on, NOT NULL is a constraint too; here it is part of the column.
    select
      'constraint',
      format(
        '%I on %s', k.conname,
        case when k.contypid = 0 then k.conrelid::regclass::text else k.contypid::regtype::text end
      ),
      pg_get_constraintdef(k.oid, true), false
    from pg_constraint as k
    where k.connamespace = 'memory'::regnamespace and k.contype not in ('n', 't')
    union all
    select
      'column', format('%s.%I', r.name, a.attname),
      concat_ws(
        E'\n',
        format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
        a.attcollation::regcollation, pg_get_expr(d.adbin, d.adrelid, true)
      ),
      false
    from pg_attribute as a
    join relations as r on r.oid = a.attrelid
    left join pg_attrdef as d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attnum > 0 and not a.attisdropped
    union all
    select
      'relation', r.name,
      concat_ws(
        E'\n',
        r.relkind, r.relowner::regrole, c.relpersistence, c.relrowsecurity, c.relforcerowsecurity,
        -- Of tables they are storage parameters, which operators tune.
        case when r.relkind = 'v' then array_to_string(r.reloptions, ',') end
      ),
      true
    from relations as r
    join pg_class as c on c.oid = r.oid
    union all
    select
      'privileges', o.name,
      (
        select string_agg(
          concat_ws(
            ' ',
            case when p.grantee = 0 then 'public' else p.grantee::regrole::text end,
            p.privilege_type, p.is_grantable
          ),
          E'\n' order by p.grantee::regrole::text collate "C", p.privilege_type, p.is_grantable
        )
        from aclexplode(o.acl) as p
        where p.grantee <> o.owner
      ),
      true
    from (
      select r.name, r.relowner as owner, coalesce(r.relacl, acldefault('r', r.relowner)) as acl
      from relations as r
      where r.relkind <> 'c'
      union all
      select format('%s.%I', r.name, a.attname), r.relowner, a.attacl
      from pg_attribute as a
      join relations as r on r.oid = a.attrelid
      where a.attacl is not null and not a.attisdropped
      union all
      select f.name, f.proowner, coalesce(f.proacl, acldefault('f', f.proowner))
      from functions as f
      union all
      select
        format('schema %I', n.nspname), n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner))
      from pg_namespace as n
      where n.nspname = 'memory'
    ) as o
  )
  select
    d.kind, d.identity, sha256(convert_to(coalesce(d.definition, ''), 'UTF8')), d.is_portable
  from definitions as d
  order by d.kind collate "C", d.identity collate "C";
end;
$$;

comment on function memory.list_definitions() is
'What the schema consists of now, each with the digest of its definition: see memory.definitions. '
'Without indexes (memory.check_indexes), and without tables'' storage parameters.';

create or replace function memory.record_definitions()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.definitions as d where true;
  insert into memory.definitions (kind, identity, digest, is_portable, release, server_version)
  select
    d.kind, d.identity, d.digest, d.is_portable, memory.version(),
    current_setting('server_version_num')::integer / 10000
  from memory.list_definitions() as d;
end;
$$;

comment on function memory.record_definitions() is
'Records what the schema consists of as what it should be. Every deployment ends with it; only '
'the owner of the schema can call it, after an addition of their own, a revert, or an upgrade of '
'PostgreSQL.';

create or replace function memory.check_definitions()
  returns table (
    problem text,
    kind text,
    identity text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_release text := (select min(d.release) from memory.definitions as d);
  v_recorded_on integer := (select min(d.server_version) from memory.definitions as d);
  v_server_version integer := current_setting('server_version_num')::integer / 10000;
begin
  if v_release is distinct from memory.version() then
    return query
    select
      'unknown', 'manifest',
      case
        when v_release is null then 'no definitions are recorded'
        else format(
          'the definitions of release %s are recorded, but %s is deployed',
          v_release, memory.version()
        )
      end;
    return;
  end if;

  return query
  select
    'unknown', 'manifest',
    format(
      'the definitions were recorded on PostgreSQL %s, so only some can be compared', v_recorded_on
    )
  where v_recorded_on <> v_server_version;
  return query
  select
    case
      when present.identity is null then 'missing'
      when recorded.identity is null then 'added'
      else 'changed'
    end,
    coalesce(present.kind, recorded.kind), coalesce(present.identity, recorded.identity)
  from memory.definitions as recorded
  full join memory.list_definitions() as present
    on present.kind = recorded.kind and present.identity = recorded.identity
  where present.identity is null
    or recorded.identity is null
    or present.digest <> recorded.digest
    and (v_recorded_on = v_server_version or present.is_portable and recorded.is_portable)
  order by 1, 2, 3;
end;
$$;

comment on function memory.check_definitions() is
'What differs from the definitions that the last deployment recorded; no rows if nothing does. '
'problem: missing, added or changed; unknown if they cannot be compared, because they are of '
'another release or another major version of PostgreSQL. Who can change the schema can also change '
'what was recorded: see memory.definitions_digest.';
grant execute on function memory.check_definitions to memory_admin;

create or replace function memory.summarize_definitions()
  returns table (
    problem text,
    kind text,
    summary text
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    d.problem, d.kind,
    case
      when d.problem = 'unknown' then string_agg(d.identity, '; ' order by d.identity)
      else format(
        '%s %s since the schema was deployed: %s',
        d.kind, d.problem, memory.enumerate(array_agg(d.identity order by d.identity))
      )
    end
  from memory.check_definitions() as d
  group by d.problem, d.kind
  order by d.problem, d.kind;
$$;

comment on function memory.summarize_definitions() is
'What memory.check_definitions finds, in one row for each problem and kind.';

create or replace function memory.definitions_digest()
  returns bytea
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select sha256(string_agg(
    convert_to(format('%s %s ', d.kind, d.identity), 'UTF8') || d.digest, ''
    order by d.kind collate "C", d.identity collate "C"
  ))
  from memory.list_definitions() as d;
$$;

comment on function memory.definitions_digest() is
'SHA-256 of all that the schema consists of now, 32 bytes. It changes with a deployment, and with '
'the major version of PostgreSQL. Keep a copy elsewhere, and compare.';
grant execute on function memory.definitions_digest
to memory_worker, memory_reader, memory_admin;

commit;
