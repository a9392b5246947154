-- Deploy pymem:functions/extras/transfer/export_memories to pg

begin;

set local role memory_owner;

create or replace function memory.is_exported(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  types text[],
  scope text,
  include_guarded boolean,
  known_at timestamptz
)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  -- An entity also comes with the facts that are about it.
  if memory_type <> 'entity' and not coalesce(memory_type = any (types), true) then
    return false;
  end if;
  case memory_type
    when 'entity' then
      perform
      from memory.entities as e
      where e.tenant_id = is_exported.tenant_id and e.id = memory_id
        and memory.is_entity_exported(
          e.tenant_id, e.id, is_exported.types, is_exported.scope, is_exported.known_at
        )
        and (is_exported.known_at is null or e.created_at <= is_exported.known_at);
    when 'item' then
      perform
      from memory.store_items as i
      where i.tenant_id = is_exported.tenant_id and i.id = memory_id and is_exported.scope is null
        and (is_exported.known_at is null or i.created_at <= is_exported.known_at);
    else
      perform
      from memory.searchable_memories as s
      where s.tenant_id = is_exported.tenant_id and s.memory_type = is_exported.memory_type
        and s.id = memory_id
        and memory.is_in_scope(s.memory_type, s.scope, is_exported.scope)
        and (include_guarded or s.is_guarded is not true)
        and (is_exported.known_at is null or s.created_at <= is_exported.known_at);
  end case;
  return found;
end;
$$;

comment on function memory.is_exported(
  text, text, uuid, text[], text, boolean, timestamptz
) is
'Whether an export with these arguments (memory.export_memories) has a memory, an entity or an '
'item.';

create or replace function memory.is_entity_exported(
  tenant_id text,
  entity_id uuid,
  types text[],
  scope text,
  known_at timestamptz
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    is_entity_exported.scope is null and coalesce('entity' = any (types), true)
    or coalesce('fact' = any (types), true) and exists (
      select
      from memory.facts as f
      where f.tenant_id = is_entity_exported.tenant_id
        and is_entity_exported.entity_id in (f.entity_id, f.object_entity_id)
        and memory.is_in_scope('fact', f.scope, is_entity_exported.scope)
        and (is_entity_exported.known_at is null or f.created_at <= is_entity_exported.known_at)
    );
$$;

comment on function memory.is_entity_exported(text, uuid, text[], text, timestamptz) is
'Whether an export with these arguments has an entity: all, or those that its facts are about.';

create or replace function memory.export_condition(
  kind text,
  types text[],
  scope text,
  include_guarded boolean,
  include_vectors boolean,
  known_at timestamptz
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- t is a row; $1 the tenant, $2 types, $3 scope, $4 include_guarded, $5 known_at.
  select case
    when export_condition.kind in ('episode', 'fact', 'rule', 'entry') then
      case when coalesce(export_condition.kind = any (types), true) then format(
        'memory.is_in_scope(%L, t.%I, $3) and ($5 is null or t.created_at <= $5)%s',
        export_condition.kind,
        case export_condition.kind when 'episode' then 'butler' else 'scope' end,
        case
          when export_condition.kind = 'entry' then ' and ($4 or t.policy <> ''billy'')' else ''
        end
      ) end
    when export_condition.kind = 'entity' then
      'memory.is_entity_exported($1, t.id, $2, $3, $5) and ($5 is null or t.created_at <= $5)'
    when export_condition.kind = 'embedding_version' then
      case when include_vectors then 't.status <> ''building''' end
    when export_condition.kind in ('item', 'item_vector') then
      case
        when export_condition.scope is null and coalesce('item' = any (types), true)
          and (export_condition.kind = 'item' or include_vectors)
        then
          case export_condition.kind
            when 'item' then '$5 is null or t.created_at <= $5' else 'true'
          end
      end
    -- Only a whole memory, as it is, can undo a merge, or knows what else contradicts it.
    when export_condition.kind in (
      'entity_merge', 'entity_merge_fact', 'entry_consolidation', 'entry_merge',
      'entry_merge_member', 'dismissal'
    ) then
      case when export_condition.scope is null and types is null and known_at is null then 'true' end
    when export_condition.kind = 'rule_application' then
      'memory.is_exported($1, ''rule'', t.rule_id, $2, $3, $4, $5)'
      ' and ($5 is null or t.created_at <= $5)'
    when export_condition.kind = 'link' then
      case
        when export_condition.scope is null and types is null and known_at is null then 'true'
        else
          '($5 is null or t.created_at <= $5) and not exists (
             select from (values (t.source_type, t.source_id), (t.target_type, t.target_id)) as m (type, id)
             where not memory.is_exported($1, m.type, m.id, $2, $3, $4, $5)
               and not ($2 is null and $3 is null and exists (
                 select from memory.tombstones as s
                 where s.tenant_id = $1 and s.memory_type = m.type and s.memory_id = m.id
               ))
           )'
      end
    when export_condition.kind = 'tombstone' then
      case
        when export_condition.scope is null and types is null
        then '$5 is null or t.created_at <= $5'
      end
    when export_condition.kind = 'history' then
      '($5 is null or t.known_to <= $5)' || case
        when export_condition.scope is null and types is null and include_guarded then ''
        else ' and memory.is_exported($1, t.memory_type, t.memory_id, $2, $3, $4, $5)'
      end
    -- The stream says what has been done until now, not what was done until then. Events of what
    -- no export has, such as logins and tokens, stay behind.
    when export_condition.kind = 'event' and known_at is null then
      't.memory_type = any (memory.recorded_type_names()) and t.memory_id is not null'
      || case
        when export_condition.scope is null and types is null then
          case
            when include_guarded then ''
            else
              ' and not (t.memory_type = ''entry'' and exists (
                 select from memory.entries as e
                 where e.tenant_id = $1 and e.id = t.memory_id and e.policy = ''billy''
               ))'
          end
        else
          ' and memory.is_exported($1, t.memory_type, t.memory_id, $2, $3, $4, $5)
            and (
              t.payload ->> ''target_id'' is null
              or memory.is_exported(
                $1, t.payload ->> ''target_type'', (t.payload ->> ''target_id'')::uuid, $2, $3, $4, $5
              )
            )'
      end
  end;
$$;

comment on function memory.export_condition(
  text, text[], text, boolean, boolean, timestamptz
) is
'The condition, in SQL, on the rows of a kind that an export has; NULL for none.';

create or replace function memory.export_record(
  kind text,
  known_at timestamptz,
  is_filtered boolean
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- r.record has the columns of the row t.
  select
    'r.record'
    || case
      when known_at is not null and export_record.kind = any (memory.recorded_type_names())
      then ' || case when t.updated_at > $5 then (h.image - $7) '
        || '|| jsonb_build_object(''updated_at'', h.known_from) else ''{}'' end'
      else ''
    end
    || case
      when is_filtered and export_record.kind in ('fact', 'rule') then
        ' || case
           when t.source_episode_id is not null
             and not memory.is_exported($1, ''episode'', t.source_episode_id, $2, $3, $4, $5)
           then ''{"source_episode_id": null}''::jsonb
           else ''{}''
         end'
      else ''
    end
    || case
      when is_filtered and export_record.kind = 'fact' then
        ' || case
           when t.supersedes_id is not null
             and not memory.is_exported($1, ''fact'', t.supersedes_id, $2, $3, $4, $5)
           then ''{"supersedes_id": null}''::jsonb
           else ''{}''
         end'
      else ''
    end;
$$;

comment on function memory.export_record(text, timestamptz, boolean) is
'The expression, in SQL, of an exported row: as it was at known_at, and without references to what '
'the export does not have.';

create or replace function memory.read_export(
  kind text,
  after_key jsonb,
  batch_size integer,
  types text[],
  scope text,
  include_guarded boolean,
  include_vectors boolean,
  known_at timestamptz
)
  returns table (
    "key" jsonb, -- noqa: RF06
    line text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the images of the history
  set extra_float_digits = 1
  set plan_cache_mode = force_custom_plan
  set jit = off
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_kind record;
  v_condition text;
  v_columns text[];
  v_types text[];
begin
  perform
    memory.check_number('batch_size', batch_size, 1, 10000),
    memory.check_word(
      'kind', read_export.kind, array(select k.kind from memory.transfer_kinds() as k order by k.position)
    ),
    case when read_export.scope is not null then memory.check_text('scope', read_export.scope, 128) end,
    case when known_at is not null then memory.check_time('known_at', known_at) end;
  if types = '{}' or not types <@ memory.recorded_type_names() then
    raise exception 'unknown types: %', left(types::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass some of %s, or omit types for everything.',
          array_to_string(memory.recorded_type_names(), ', ')
        );
  end if;
  if include_vectors and known_at is not null then
    raise exception 'vectors of the past are not kept'
      using errcode = 'PM002', hint = 'Leave out include_vectors, or known_at.';
  end if;

  select k.* into v_kind from memory.transfer_kinds() as k where k.kind = read_export.kind;
  if jsonb_typeof(after_key) is distinct from 'array' and after_key is not null
    or jsonb_array_length(after_key) <> cardinality(v_kind.key_columns)
  then
    raise exception 'after_key is not a key of an exported %', read_export.kind
      using errcode = 'PM002', hint = 'Pass the key of the last row of the batch before.';
  end if;
  v_condition := memory.export_condition(
    read_export.kind, types, read_export.scope, include_guarded, include_vectors, known_at
  );
  if v_condition is null then
    return;
  end if;
  v_columns := memory.transfer_columns(v_kind.table_name, include_vectors);
  -- The types of the key, for the comparison with after_key.
  v_types := array(
    select format_type(a.atttypid, a.atttypmod)
    from unnest(v_kind.key_columns) with ordinality as k (name, place)
    join pg_attribute as a
      on a.attrelid = format('memory.%I', v_kind.table_name)::regclass and a.attname = k.name
    order by k.place
  );

  return query execute format(
    $query$
      with page as materialized (
        select
          p.*,
          sum(p.octets) over (order by %1$s rows unbounded preceding) - p.octets as octets_before
        from (
          select %2$s, %3$s as octets
          from memory.%4$I as t
          where t.tenant_id = $1 and (%5$s) and (%6$s)
          order by %1$s
          limit %7$s
        ) as p
      )
      select
        jsonb_build_array(%1$s),
        '{"type": "%8$s", "row": ' || (%9$s)::text || %10$s || '}'
      from page as t
      cross join lateral (select to_jsonb(s) as record from (select %2$s) as s) as r
      %11$s
      where t.octets_before < 16777216 %12$s
      order by %1$s
    $query$,
    (select string_agg(format('%I', k.name), ', ' order by k.place)
     from unnest(v_kind.key_columns) with ordinality as k (name, place)),
    (select string_agg(format('t.%I', c.name), ', ' order by c.place)
     from unnest(v_columns) with ordinality as c (name, place)),
    case
      when read_export.kind in ('episode', 'fact', 'rule', 'entry') then 'octet_length(t.content)'
      when read_export.kind = 'history' then 'octet_length(t.image::text)'
      when read_export.kind = 'item' then 'octet_length(t.value::text)'
      else '0'
    end,
    v_kind.table_name,
    case
      when after_key is null then 'true'
      else format(
        '(%s) > (%s)',
        (select string_agg(format('t.%I', k.name), ', ' order by k.place)
         from unnest(v_kind.key_columns) with ordinality as k (name, place)),
        (select string_agg(format('($6 ->> %s)::%s', k.place - 1, k.type), ', ' order by k.place)
         from unnest(v_types) with ordinality as k (type, place))
      )
    end,
    v_condition,
    batch_size,
    read_export.kind,
    memory.export_record(
      read_export.kind, known_at,
      types is not null or read_export.scope is not null or known_at is not null
    ),
    case
      when read_export.kind = 'fact' and known_at is null then
        'coalesce((
           select '', "superseded_by": "'' || n.id || ''"'' from memory.facts as n
           where n.tenant_id = $1 and n.supersedes_id = t.id and t.validity = ''superseded''
             and memory.is_in_scope(''fact'', n.scope, $3)
           order by n.id limit 1
         ), '''')'
      else quote_literal('')
    end,
    case
      when known_at is not null and read_export.kind = any (memory.recorded_type_names())
      then format(
        'left join memory.memory_history as h
           on h.tenant_id = $1 and h.memory_type = %L and h.memory_id = t.id
             and h.known_from <= $5 and h.known_to > $5',
        read_export.kind
      )
      else ''
    end,
    case
      when known_at is not null and read_export.kind = any (memory.recorded_type_names())
      then 'and (t.updated_at <= $5 or h.image is not null)'
      else ''
    end
  )
  using
    v_tenant_id, types, read_export.scope, include_guarded, known_at, after_key,
    array(
      select a.attname::text
      from pg_attribute as a
      where a.attrelid = format('memory.%I', v_kind.table_name)::regclass and a.attnum > 0
        and a.attname::text <> all (v_columns)
    );
end;
$$;

comment on function memory.read_export(
  text, jsonb, integer, text[], text, boolean, boolean, timestamptz
) is
'A batch of an export: see memory.export_memories. Errors: PM002.';

create or replace function memory.export_memories(
  kind text,
  after_key jsonb default null,
  batch_size integer default 1000,
  types text[] default null,
  scope text default null,
  include_vectors boolean default false,
  known_at timestamptz default null
)
  returns table (
    "key" jsonb, -- noqa: RF06
    line text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select e.*
  from memory.read_export(
    export_memories.kind, after_key, batch_size, types, export_memories.scope, false, include_vectors, known_at
  ) as e;
end;
$$;

comment on function memory.export_memories(
  text, jsonb, integer, text[], text, boolean, timestamptz
) is
'The rows of one kind (memory.list_export_kinds) of an export of the memory, in batches: up to '
'batch_size (at most 10000, and about 16 MiB of text), those after after_key, the key of the last '
'row before; none: there are no more. line: an object with the type and the row, all columns but '
'the tenant and derived ones, times in UTC; memory.restore_rows takes it as it is. types: only '
'episode, fact, rule, entry, entity or item, and what belongs to them; NULL: everything. scope: '
'only what a search in it finds. known_at: as the memory was then, without the audit stream; '
'counters, and what has been deleted since, are as they are now. Guarded entries are left out. '
'Read all kinds in one transaction, repeatable read, for an export that agrees with itself. '
'Counts no reference. Errors: PM002.';
grant execute on function memory.export_memories to memory_writer, memory_reader, memory_admin;

create or replace function memory.export_all_memories(
  kind text,
  after_key jsonb default null,
  batch_size integer default 1000,
  types text[] default null,
  scope text default null,
  include_vectors boolean default false,
  known_at timestamptz default null
)
  returns table (
    "key" jsonb, -- noqa: RF06
    line text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select e.*
  from memory.read_export(
    export_all_memories.kind, after_key, batch_size, types, export_all_memories.scope, true, include_vectors, known_at
  ) as e;
end;
$$;

comment on function memory.export_all_memories(
  text, jsonb, integer, text[], text, boolean, timestamptz
) is
'Like memory.export_memories, with the guarded entries, which are otherwise only read in their own '
'scope. Errors: PM002.';
grant execute on function memory.export_all_memories to memory_admin;

create or replace function memory.list_export_kinds()
  returns table (
    kind text,
    "position" integer -- noqa: RF06
  )
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select k.kind, k.position from memory.transfer_kinds() as k order by k.position;
$$;

comment on function memory.list_export_kinds() is
'The kinds of rows of an export, in the order in which memory.restore_rows takes them.';
grant execute on function memory.list_export_kinds to memory_writer, memory_reader, memory_admin;

create or replace function memory.describe_export(
  types text[] default null,
  scope text default null,
  include_guarded boolean default false,
  include_vectors boolean default false,
  include_events boolean default true,
  known_at timestamptz default null
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC'
as $$
#variable_conflict use_column
begin
  return jsonb_build_object(
    'type', 'pymem_export', 'format', 1, 'release', memory.version(),
    'tenant', memory.current_tenant(), 'exported_at', now(), 'known_at', known_at,
    'types', describe_export.types, 'scope', describe_export.scope,
    'guarded', include_guarded, 'vectors', include_vectors,
    'events', include_events and known_at is null
  );
end;
$$;

comment on function memory.describe_export(text[], text, boolean, boolean, boolean, timestamptz) is
'The first line of an export with these arguments (memory.export_memories), which '
'memory.start_restore takes.';
grant execute on function memory.describe_export to memory_writer, memory_reader, memory_admin;

commit;
