-- Deploy pymem:functions/extras/operations/indexes to pg

begin;

set local role memory_owner;

-- The indexes that the deployed changes have created are the expected ones. A function records them
-- as part of the schema, so that a lost index is noticed. Definitions are read with a search_path
-- that makes them qualify every name.
create or replace function memory.refresh_expected_indexes()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_indexes text;
begin
  perform set_config('search_path', 'pg_catalog', true); -- until the end of the function
  select string_agg(
    format(
      E'\n    (%L, %L)',
      c.relname,
      case
        when k.oid is null then pg_get_indexdef(c.oid)
        else format(
          'alter table %s add constraint %I %s',
          i.indrelid::regclass, k.conname, pg_get_constraintdef(k.oid)
        )
      end
    ),
    ',' order by c.relname
  ) into v_indexes
  from pg_index as i
  join pg_class as c on c.oid = i.indexrelid
  join pg_am as a on a.oid = c.relam
  left join pg_constraint as k on k.conindid = c.oid and k.contype in ('p', 'u', 'x')
  where c.relnamespace = 'memory'::regnamespace and a.amname not in ('ivfflat', 'hnsw')
    and c.relname <> 'entity_names_similarity_idx';

  execute format(
    'create or replace function memory.expected_indexes()
       returns table (index_name text, statement text)
       language sql
       immutable
       parallel safe
     begin atomic
       select e.index_name, e.statement from (values %s) as e (index_name, statement);
     end',
    v_indexes
  );
end;
$$;

comment on function memory.refresh_expected_indexes() is
'Makes memory.expected_indexes return the indexes that exist now. Call it in each change that adds '
'or drops an index, and in its revert.';

do $$
begin
  perform memory.refresh_expected_indexes();
end;
$$;

comment on function memory.expected_indexes() is
'Every index of the schema with the statement that creates it, as deployed; without the '
'approximate indexes (memory.rebuild_vector_indexes) and the one that needs the extension pg_trgm, '
'which are optional.';

create or replace function memory.check_indexes()
  returns table (
    index_name text,
    problem text,
    repair text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with present as (
    select c.relname::text as index_name, i.indisvalid and i.indisready and i.indislive as is_valid
    from pg_index as i
    join pg_class as c on c.oid = i.indexrelid
    where c.relnamespace = 'memory'::regnamespace
  ),
  expected as (
    select e.index_name, e.statement from memory.expected_indexes() as e
    union all
    select
      'entity_names_similarity_idx',
      format(
        'CREATE INDEX entity_names_similarity_idx ON memory.entity_names USING gin '
        '(name %I.gin_trgm_ops) WITH (fastupdate = off)',
        n.nspname
      )
    from pg_extension as x
    join pg_namespace as n on n.oid = x.extnamespace
    where x.extname = 'pg_trgm' and memory.has_extension(x.extname)
  ),
  approximate as (
    -- If one memory type has an approximate index, the others should have one.
    select v.index_name, v.is_valid, min(nullif(v.method, 'exact')) over () as method
    from memory.vector_indexes() as v
  ),
  problems as (
    select
      e.index_name,
      'missing' as problem,
      regexp_replace(e.statement, '^create (unique )?index', '\& concurrently', 'i') as repair
    from expected as e
    where not exists (select from present as p where p.index_name = e.index_name)
    union all
    select p.index_name, 'invalid', format('reindex index concurrently memory.%I', p.index_name)
    from present as p
    where not p.is_valid
      and p.index_name in (select e.index_name from expected as e)
    union all
    select
      a.index_name,
      case when a.is_valid is null then 'missing' else 'invalid' end,
      format('select memory.rebuild_vector_indexes(%L)', a.method)
    from approximate as a
    where a.method is not null and a.is_valid is not true
    union all
    -- Left by an interrupted CREATE or REINDEX INDEX CONCURRENTLY: writes maintain it, but no query
    -- uses it.
    select p.index_name, 'invalid', format('drop index concurrently memory.%I', p.index_name)
    from present as p
    where not p.is_valid
      and p.index_name not in (select e.index_name from expected as e)
      and p.index_name not in (select a.index_name from approximate as a)
  )
  select p.index_name, p.problem, p.repair
  from problems as p
  order by p.index_name;
end;
$$;

comment on function memory.check_indexes() is
'Problems with the indexes of the schema; no rows if there are none. problem: missing, or invalid '
'(a build was interrupted). Either all types have an approximate index, or none. repair: the '
'statement that fixes it, for the owner of the schema to run outside a transaction, for example '
'with \gexec in psql; most do not block readers and writers.';
grant execute on function memory.check_indexes to memory_admin;

commit;
