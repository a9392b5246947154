-- Deploy pymem:functions/core/base/memory_types to pg

begin;

set local role memory_owner;

-- Functions that searches and checks call are constants, which a plan holds ready.
create or replace function memory.refresh_type_names()
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_names record;
begin
  for v_names in
    select
      n.function_name,
      coalesce(array_agg(t.memory_type order by t.position), '{}') as names
    from (values
      ('memory_type_names', true, false, false),
      ('default_type_names', true, true, false),
      ('recorded_type_names', false, false, false),
      ('decaying_type_names', true, false, true)
    ) as n (function_name, is_searched, is_default, is_decaying)
    left join memory.memory_types as t
      on (t.is_searched or not n.is_searched)
      and (t.is_default or not n.is_default)
      and (t.decaying_condition is not null or not n.is_decaying)
    group by n.function_name
    order by n.function_name
  loop
    execute format(
      'create or replace function memory.%I()
         returns text[]
         language sql
         immutable
         parallel safe
         return %L::text[]',
      v_names.function_name, v_names.names
    );
  end loop;

  execute format(
    'create or replace function memory.unrecorded_columns(memory_type text)
       returns text[]
       language sql
       immutable
       parallel safe
       return case memory_type %s end',
    (
      select string_agg(
        format(
          'when %L then %L::text[]',
          t.memory_type,
          -- What never changes, counts references, or follows from others or from deletions
          -- elsewhere.
          '{
            tenant_id,id,created_at,updated_at,butler,session_id,source_class,subject,predicate,
            idempotency_key,source_episode_id,supersedes_id,embedding,embedding_version_id,
            search_vector,text_search_config,index_rendering,reference_count,last_referenced_at,
            retry_count,last_error,asymmetric_score
          }'::text[] || t.fixed_columns
        ),
        ' ' order by t.position
      )
      from memory.memory_types as t
    )
  );

  execute format(
    'create or replace function memory.vector_index_name(memory_type text)
       returns text
       language sql
       immutable
       parallel safe
       return case memory_type %s end',
    (
      select string_agg(
        format('when %L then %L', t.memory_type, t.table_name || '_embedding_idx'),
        ' ' order by t.position
      )
      from memory.memory_types as t
      where t.is_searched
    )
  );
end;
$$;

comment on function memory.refresh_type_names() is
'Makes memory.memory_type_names, memory.default_type_names, memory.recorded_type_names, '
'memory.decaying_type_names, memory.unrecorded_columns and memory.vector_index_name say what '
'memory.memory_types holds.';

do $$
begin
  perform memory.refresh_type_names();
end;
$$;

comment on function memory.memory_type_names() is
'The types of memories that searches find, in the order of answers.';
comment on function memory.default_type_names() is
'The types that a search looks at if it names none.';
comment on function memory.recorded_type_names() is
'The types whose changes are audited and kept in history: memories, entities and items.';
comment on function memory.decaying_type_names() is
'The types of memories whose confidence decays.';
comment on function memory.vector_index_name(text) is
'The name that the approximate index of a type has, if there is one.';
grant execute on function memory.vector_index_name to memory_search;
comment on function memory.unrecorded_columns(text) is
'The columns of a type that its history leaves out.';

create or replace function memory.table_of(memory_type text)
  returns name
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_table_name name;
begin
  select t.table_name into strict v_table_name
  from memory.memory_types as t
  where t.memory_type = table_of.memory_type;
  return v_table_name;
end;
$$;

comment on function memory.table_of(text) is
'The table of a type, for statements that are put together by type. Errors: P0002 unknown type.';

create or replace function memory.changing_columns(memory_type text)
  returns table (
    column_name name,
    is_generated boolean
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select a.attname, a.attgenerated <> ''
  from memory.memory_types as t
  join pg_attribute as a
    on a.attrelid = format('memory.%I', t.table_name)::regclass
    and a.attnum > 0 and not a.attisdropped
  where t.memory_type = changing_columns.memory_type
    and a.attname <> all (memory.unrecorded_columns(t.memory_type))
  order by a.attnum;
$$;

comment on function memory.changing_columns(text) is
'The columns of a type that its history keeps, in the order of the table.';

commit;
