-- Deploy pymem:functions/extras/transfer/restore_rows to pg

begin;

set local role memory_owner;

create or replace function memory.current_restore()
  returns jsonb
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_restore jsonb;
begin
  select e.payload into v_restore
  from memory.memory_events as e
  where e.tenant_id = memory.current_tenant()
    and e.event_type = 'restore_started' and e.created_at = now()
  order by e.seq desc
  limit 1;
  if not found then
    raise exception 'no restore has begun in this transaction'
      using errcode = 'PM003', hint = 'Call memory.start_restore first, in the same transaction.';
  end if;
  return v_restore;
end;
$$;

comment on function memory.current_restore() is
'What this transaction restores: the payload of the event that memory.start_restore has written. '
'Errors: PM003.';

create or replace function memory.start_restore(
  header jsonb,
  name text default null
)
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_id uuid := gen_random_uuid();
begin
  if jsonb_typeof(header) is distinct from 'object'
    or header ->> 'type' is distinct from 'pymem_export'
    or jsonb_typeof(header -> 'events') is distinct from 'boolean'
  then
    raise exception 'this is not the first line of an export'
      using errcode = 'PM002', hint = 'Pass what memory.describe_export returned.';
  elsif header -> 'format' is distinct from '1' then
    raise exception 'the export has the format %, which this release does not know',
      left((header -> 'format')::text, 20)
      using errcode = 'PM002', hint = 'Restore it with the release that made it, or a later one.';
  elsif memory.has_begun_restore() then
    raise exception 'this transaction restores another export'
      using errcode = 'PM003', hint = 'Restore each export in a transaction of its own.';
  end if;

  insert into memory.import_batches (tenant_id, id, name, format, status, started_at)
  values (
    v_tenant_id, v_id, memory.check_batch_name(start_restore.name, 'pymem', v_id), 'pymem', 'running', now()
  )
  on conflict (tenant_id, name) do nothing;
  if not found then
    raise exception 'there is an import named %', quote_literal(start_restore.name)
      using errcode = 'PM004', hint = 'Pass another name, or none.';
  end if;
  perform memory.write_event(
    v_tenant_id, 'restore_started', null, null,
    jsonb_build_object(
      'batch_id', v_id, 'release', header -> 'release', 'exported_at', header -> 'exported_at',
      'events', header -> 'events'
    )
  );
  return v_id;
end;
$$;

comment on function memory.start_restore(jsonb, text) is
'Begins to restore an export (memory.export_memories): its first line (memory.describe_export), '
'and a name for memory.undo_import. memory.restore_rows and memory.finish_restore follow in the '
'same transaction, which can only commit when the restore is finished. Returns the id of the '
'import. Errors: PM002 not an export, PM003 another restore in this transaction, PM004 the name is '
'taken.';
grant execute on function memory.start_restore to memory_admin;

create or replace function memory.check_batch_name(
  name text,
  format text,
  id uuid
)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if not memory.is_actor(name) then
    raise exception 'name is not a name of 1 to 128 bytes without invisible characters'
      using errcode = 'PM002', hint = 'Pass a short name such as "chatgpt-2026", or none.';
  end if;
  return coalesce(name, format || '-' || left(id::text, 8));
end;
$$;

comment on function memory.check_batch_name(text, text, uuid) is
'The name of an import: the given one, or its format and the first digits of its id. Errors: '
'PM002.';

create or replace function memory.restore_vectors(versions jsonb[])
  returns integer
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_version memory.embedding_versions;
  v_known memory.embedding_versions;
  v_created integer := 0;
begin
  for v_version in
    select r.*
    from unnest(versions) as v (row)
    cross join lateral jsonb_populate_record(null::memory.embedding_versions, v.row) as r
    where r.status = 'active'
    order by r.id
  loop
    select e.* into v_known
    from memory.embedding_versions as e
    where e.tenant_id = v_tenant_id and e.status = 'active';
    if not found then
      -- As the tenant of the export, this one has no vectors yet.
      insert into memory.embedding_versions (
        tenant_id, model, version, rendering, similarity_floor, similarity_ceiling, status
      )
      values (
        v_tenant_id, v_version.model, v_version.version, v_version.rendering,
        v_version.similarity_floor, v_version.similarity_ceiling, 'active'
      )
      returning * into v_known;
      v_created := v_created + 1;
    end if;
    -- Vectors of another model are left out, and made anew.
    perform set_config(
      'memory.restored_version',
      case
        when (v_known.model, v_known.version, v_known.rendering)
          = (v_version.model, v_version.version, v_version.rendering)
        then v_version.id || ' ' || v_known.id
        else ''
      end,
      true
    );
  end loop;
  return v_created;
end;
$$;

comment on function memory.restore_vectors(jsonb[]) is
'Sees to the embedding version of an export: a tenant without one gets it. Keeps for this '
'transaction which id its vectors get, if they are of the active version. Returns how many '
'versions it has created.';

create or replace function memory.restore_kind(
  batch_id uuid,
  kind text,
  rows jsonb[],
  ordinals bigint[]
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC'
  set extra_float_digits = 1
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_table name;
  v_keys text[];
  v_columns text[]; -- those that the rows have
  v_volatile constant text[] := '{
    reference_count,last_referenced_at,embedding,embedding_version_id,source_episode_id,
    supersedes_id
  }'::text [];
  v_versions text[] := string_to_array(
    nullif(current_setting('memory.restored_version', true), ''), ' '
  );
  v_same_key text;
  v_bad record;
  v_restored bigint;
begin
  select k.table_name, k.key_columns into v_table, v_keys
  from memory.transfer_kinds() as k
  where k.kind = restore_kind.kind;
  if not found then
    raise exception 'element %: it is %, which no export has',
      ordinals[1], quote_nullable(left(restore_kind.kind, 100))
      using errcode = 'PM002', hint = 'Pass the lines of an export as memory.export_memories returned them.';
  end if;
  v_columns := memory.transfer_columns(v_table, true);
  select o.ordinal, k.key into v_bad
  from unnest(rows, ordinals) as o (row, ordinal)
  left join lateral jsonb_object_keys(
    case jsonb_typeof(o.row) when 'object' then o.row end
  ) as k (key) on true
  where k.key is null or k.key <> all (v_columns)
  order by o.ordinal, k.key
  limit 1;
  if found then
    raise exception 'element %: it has %', v_bad.ordinal,
      coalesce('the unknown column ' || to_jsonb(left(v_bad.key, 100))::text, 'no row')
      using errcode = 'PM002', hint = 'Restore it with the release that made it, or a later one.';
  end if;
  v_columns := array(
    select c.name
    from unnest(v_columns) with ordinality as c (name, place)
    where exists (select from unnest(rows) as r (row) where r.row ? c.name)
    order by c.place
  );
  if not v_keys <@ v_columns then
    raise exception 'element %: it has no %', ordinals[1], array_to_string(v_keys, ' and ')
      using errcode = 'PM002', hint = 'Pass the lines of an export as memory.export_memories returned them.';
  end if;

  if restore_kind.kind = 'embedding_version' then
    return memory.restore_vectors(rows)::bigint;
  elsif restore_kind.kind = 'event' then
    insert into memory.restored_events (tenant_id, batch_id, seq, event)
    select v_tenant_id, restore_kind.batch_id, (r.row ->> 'seq')::bigint, r.row
    from unnest(rows) as r (row)
    where not exists (
      select from memory.memory_events as e
      where e.tenant_id = v_tenant_id and e.id = (r.row ->> 'id')::uuid
    );
    get diagnostics v_restored = row_count;
    return v_restored;
  end if;

  -- What is there already is left as it is, if it is the same.
  v_same_key := (
    select string_agg(format('t.%1$I = r.%1$I', k.name), ' and ' order by k.place)
    from unnest(v_keys) with ordinality as k (name, place)
  );
  execute format(
    $query$
      select l.ordinal
      from unnest($2, $3) as l (row, ordinal)
      cross join lateral jsonb_populate_record(null::memory.%1$I, l.row) as r
      -- One by one from the primary key, however many rows there are.
      cross join lateral (
        select to_jsonb(s) as known
        from (select %3$s from memory.%1$I as t where t.tenant_id = $1 and %2$s limit 1) as s
      ) as k
      where k.known - $4 <> l.row - $4
      order by l.ordinal
      limit 1
    $query$,
    v_table, v_same_key,
    (select string_agg(format('t.%I', c.name), ', ' order by c.place)
     from unnest(v_columns) with ordinality as c (name, place))
  ) into v_bad using v_tenant_id, rows, ordinals, v_volatile;
  if v_bad.ordinal is not null then
    raise exception 'element %: the memory has this % with another content or state',
      v_bad.ordinal, replace(restore_kind.kind, '_', ' ')
      using errcode = 'PM004', hint = 'Restore the export into an empty tenant.';
  end if;

  execute format(
    $query$
      with restored as (
        insert into memory.%1$I (tenant_id%2$s%4$s)
        select $1%3$s%5$s
        from unnest($2, $3) as l (row, ordinal)
        cross join lateral jsonb_populate_record(null::memory.%1$I, l.row) as r
        left join lateral (
          select true as is_known from memory.%1$I as t where t.tenant_id = $1 and %6$s limit 1
        ) as k on true
        where k.is_known is null
        order by l.ordinal
        returning %7$s
      ),
      noted as (
        insert into memory.imported_memories
          (tenant_id, memory_type, memory_id, batch_id, imported_at)
        select $1, $5, r.id, $4, now()
        from restored as r
        where r.id is not null
      )
      select count(*) from restored
    $query$,
    v_table,
    (select string_agg(format(', %I', c.name), '' order by c.place)
     from unnest(v_columns) with ordinality as c (name, place)),
    (select string_agg(
       case
         when c.name = 'embedding' and 'embedding_version_id' = any (v_columns) then
           ', case when r.embedding_version_id = $6 then r.embedding end'
         when c.name = 'embedding_version_id' then
           ', case when r.embedding_version_id = $6 then $7 end'
         else format(', r.%I', c.name)
       end, '' order by c.place)
     from unnest(v_columns) with ordinality as c (name, place)),
    case
      when restore_kind.kind = any (memory.memory_type_names()) then ', text_search_config' || case
        when restore_kind.kind = 'episode' then ', index_rendering' else ''
      end
      else ''
    end,
    case
      when restore_kind.kind = any (memory.memory_type_names())
      then ', $8' || case when restore_kind.kind = 'episode' then ', $9' else '' end
      else ''
    end,
    v_same_key,
    case
      when restore_kind.kind = any (memory.recorded_type_names()) then 'id' else 'null::uuid as id'
    end
  )
  into v_restored
  using
    v_tenant_id, rows, ordinals, batch_id, restore_kind.kind, v_versions[1]::uuid,
    v_versions[2]::uuid, v_settings.text_search_config, v_settings.index_rendering;

  if restore_kind.kind = 'fact' then
    insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
    select distinct
      v_tenant_id, r.scope,
      memory.fact_anchor(r.entity_id, memory.spelling_key(r.subject)),
      memory.predicate_key(r.predicate)
    from unnest(rows) as l (row)
    cross join lateral jsonb_populate_record(null::memory.facts, l.row) as r
    on conflict (tenant_id, scope, anchor, predicate) do nothing;
  elsif restore_kind.kind = 'entry' then
    insert into memory.entry_numbers as n (tenant_id, day, last_number)
    select
      v_tenant_id, substring(l.row ->> 'entry_id' from 5 for 10)::date,
      max(substring(l.row ->> 'entry_id' from 16)::integer)
    from unnest(rows) as l (row)
    group by 2
    order by 2
    on conflict (tenant_id, day) do update
    set last_number = greatest(n.last_number, excluded.last_number);
  end if;
  return v_restored;
end;
$$;

comment on function memory.restore_kind(uuid, text, jsonb[], bigint[]) is
'Restores rows of one kind, and returns how many were not there yet. Errors: PM002, PM004 as '
'memory.restore_rows; others of the tables, too.';

create or replace function memory.restore_rows(lines text[])
  returns table (
    kind text,
    restored bigint,
    known bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_batch_id uuid;
  v_group record;
  v_line record;
begin
  if lines is null then
    raise exception 'lines is NULL'
      using errcode = 'PM002', hint = 'Pass lines of an export.';
  end if;
  v_batch_id := (memory.current_restore() ->> 'batch_id')::uuid;
  set constraints memory.facts_tenant_id_supersedes_id_fkey deferred;
  perform set_config('memory.restoring', 'on', true);
  for v_group in
    select
      l.element ->> 'type' as kind, array_agg(l.element -> 'row' order by l.ordinal) as rows,
      array_agg(l.ordinal order by l.ordinal) as ordinals
    from (
      select u.line::jsonb as element, u.ordinal
      from unnest(lines) with ordinality as u (line, ordinal)
    ) as l
    left join memory.transfer_kinds() as k on k.kind = l.element ->> 'type'
    group by l.element ->> 'type', k.position
    order by k.position nulls first
  loop
    kind := v_group.kind;
    begin
      restored := memory.restore_kind(v_batch_id, kind, v_group.rows, v_group.ordinals);
    exception
      when data_exception or not_null_violation or check_violation or foreign_key_violation
        or unique_violation or program_limit_exceeded
      then
        -- Find which one it is.
        for v_line in
          select l.row, l.ordinal from unnest(v_group.rows, v_group.ordinals) as l (row, ordinal)
          order by l.ordinal
        loop
          begin
            perform memory.restore_kind(
              v_batch_id, kind, array[v_line.row], array[v_line.ordinal]
            );
          exception
            when foreign_key_violation then
              raise exception 'element %: it refers to what neither the export nor the memory has',
                v_line.ordinal
                using errcode = 'PM002', hint = 'Pass the lines of an export in their order.';
            when unique_violation then
              raise exception 'element %: the memory has another % under its key or name',
                v_line.ordinal, replace(kind, '_', ' ')
                using errcode = 'PM004', hint = 'Restore the export into an empty tenant.';
            when data_exception or not_null_violation or check_violation or program_limit_exceeded
            then
              raise exception 'element %: %', v_line.ordinal, sqlerrm
                using errcode = 'PM002', hint = 'Restore an export that nobody has changed.';
          end;
        end loop;
        raise exception 'element %: it cannot be restored with those after it: %',
          v_group.ordinals[1], sqlerrm
          using errcode = 'PM002', hint = 'Restore an export that nobody has changed.';
    end;
    known := cardinality(v_group.rows) - restored;
    return next;
  end loop;
  perform set_config('memory.restoring', 'off', true);
end;
$$;

comment on function memory.restore_rows(text[]) is
'Restores lines of an export, in the order of memory.list_export_kinds, into the tenant: with ids, '
'times, states, history and counters as they were. What is there already stays as it is, and must '
'be the same. Returns for each kind how many rows were restored and how many were there. The rows '
'are not audited one by one: their events come from the export, or memory.finish_restore makes '
'them of their history. Errors: PM002 not a line of an export (the message gives its number, from '
'1), PM003 no restore has begun in this transaction, PM004 an id, key or name is taken by other '
'content.';
grant execute on function memory.restore_rows to memory_admin;

create or replace function memory.append_restored_events(
  tenant_id text,
  batch_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_bad text;
begin
  -- Events of these types mean something to the database.
  select r.event ->> 'event_type' into v_bad
  from memory.restored_events as r
  where r.tenant_id = append_restored_events.tenant_id and r.batch_id = append_restored_events.batch_id
    and (
      (r.event ->> 'event_type' ~ '^[a-z][a-z_]{0,63}$') is not true
      or r.event ->> 'event_type' in ('erased', 'restore_started')
      or (r.event ->> 'memory_type' = any (memory.recorded_type_names())) is not true
    )
  order by r.seq
  limit 1;
  if found then
    raise exception 'an export has no event of the type %', quote_nullable(left(v_bad, 100))
      using errcode = 'PM002', hint = 'Restore an export that nobody has changed.';
  end if;

  -- Login and time of an event are those of this database: whose they were is in its payload.
  insert into memory.memory_events (
    tenant_id, id, event_type, memory_type, memory_id, actor, request_id, reason, payload
  )
  select
    r.tenant_id, e.id, e.event_type, e.memory_type, e.memory_id, e.actor, e.request_id, e.reason,
    e.payload || jsonb_build_object(
      'restored',
      jsonb_build_object('login', e.login, 'created_at', e.created_at)
      || coalesce(e.payload -> 'restored', '{}')
      || jsonb_build_object('batch_id', r.batch_id)
    )
  from memory.restored_events as r
  cross join lateral jsonb_populate_record(null::memory.memory_events, r.event) as e
  where r.tenant_id = append_restored_events.tenant_id and r.batch_id = append_restored_events.batch_id
  order by r.seq;
  delete from memory.restored_events as r
  where r.tenant_id = append_restored_events.tenant_id and r.batch_id = append_restored_events.batch_id;
end;
$$;

comment on function memory.append_restored_events(text, uuid) is
'Appends the events of an export to the audit stream, in their order, after all that the database '
'has seen. payload.restored holds the login and the time that they had. Errors: PM002.';

create or replace function memory.append_history_events(
  tenant_id text,
  batch_id uuid
)
  returns void
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with states as (
    select i.memory_type, i.memory_id, h.known_from as at, h.image
    from memory.imported_memories as i
    join memory.memory_history as h
      on h.tenant_id = i.tenant_id and h.memory_type = i.memory_type and h.memory_id = i.memory_id
    where i.tenant_id = append_history_events.tenant_id and i.batch_id = append_history_events.batch_id
    union all
    select i.memory_type, i.memory_id, n.at, n.image
    from memory.imported_memories as i
    cross join lateral (
      select
        s.updated_at as at,
        jsonb_build_object('lifecycle_state', s.lifecycle_state, 'maturity', s.maturity) as image
      from memory.searchable_memories as s
      where s.tenant_id = i.tenant_id and s.memory_type = i.memory_type and s.id = i.memory_id
      union all
      select e.updated_at, jsonb_build_object('lifecycle_state', e.lifecycle_state)
      from memory.entities as e
      where i.memory_type = 'entity' and e.tenant_id = i.tenant_id and e.id = i.memory_id
      union all
      select s.updated_at, jsonb_build_object('lifecycle_state', s.lifecycle_state)
      from memory.store_items as s
      where i.memory_type = 'item' and s.tenant_id = i.tenant_id and s.id = i.memory_id
    ) as n
    where i.tenant_id = append_history_events.tenant_id and i.batch_id = append_history_events.batch_id
  ),
  steps as (
    select
      s.memory_type, s.memory_id, s.at, a.aspect, s.image ->> a.aspect as to_state,
      lag(s.image ->> a.aspect) over (
        partition by s.memory_type, s.memory_id, a.aspect order by s.at
      ) as from_state
    from states as s
    cross join (values ('lifecycle_state'), ('maturity')) as a (aspect)
    where s.image ->> a.aspect is not null
  )
  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    append_history_events.tenant_id, t.event_type, s.memory_type, s.memory_id,
    jsonb_build_object(
      'from', t.from_state, 'to', t.to_state,
      'restored', jsonb_build_object(
        'batch_id', append_history_events.batch_id, 'created_at', s.at
      )
    )
  from steps as s
  join memory.transitions as t
    on t.memory_type = s.memory_type and t.aspect = s.aspect
      and t.from_state = coalesce(s.from_state, '[*]') and t.to_state = s.to_state
  where s.from_state is distinct from s.to_state
  order by s.at, s.memory_type, s.memory_id, s.aspect;

  insert into memory.memory_events (tenant_id, event_type, memory_type, memory_id, payload)
  select
    l.tenant_id, 'link_created', l.source_type, l.source_id,
    jsonb_build_object(
      'source_type', l.source_type, 'source_id', l.source_id,
      'target_type', l.target_type, 'target_id', l.target_id, 'relation', l.relation,
      'restored', jsonb_build_object(
        'batch_id', append_history_events.batch_id, 'created_at', l.created_at
      )
    )
  from memory.imported_memories as i
  join memory.memory_links as l
    on l.tenant_id = i.tenant_id and l.source_type = i.memory_type and l.source_id = i.memory_id
  where i.tenant_id = append_history_events.tenant_id and i.batch_id = append_history_events.batch_id
  order by l.created_at, l.source_type, l.source_id, l.target_type, l.target_id;
$$;

comment on function memory.append_history_events(text, uuid) is
'Writes the events that the history of restored memories tells: how each came about, and each '
'change of its state; and those of their links. payload.restored holds the time.';

create or replace function memory.check_restored(
  tenant_id text,
  batch_id uuid
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_problem record;
begin
  select p.memory_type, p.memory_id, p.detail into v_problem
  from (
    select c.memory_type, c.memory_id, c.detail
    from memory.check_event_coverage(check_restored.tenant_id) as c
    union all
    select r.memory_type, r.memory_id, r.detail
    from memory.check_row_coverage(check_restored.tenant_id) as r
    union all
    select s.memory_type, s.memory_id, s.detail
    from memory.check_states(check_restored.tenant_id) as s
    union all
    -- An image of the history that does not follow from the one before.
    select h.memory_type, h.memory_id, 'its history was changed'
    from (
      select
        h.memory_type, h.memory_id, memory.image_digest(h.image) as digest, h.known_from,
        lag(h.successor_digest) over in_time as expected, lag(h.known_to) over in_time as ended
      from memory.memory_history as h
      where h.tenant_id = check_restored.tenant_id
      window in_time as (partition by h.memory_type, h.memory_id order by h.known_from)
    ) as h
    where h.digest <> h.expected or h.known_from <> h.ended
    union all
    select l.source_type, l.source_id, format('its link leads to the %s %s, which is missing', l.target_type, l.target_id)
    from memory.memory_links as l
    where l.tenant_id = check_restored.tenant_id
      and not exists (
        select from memory.searchable_memories as s
        where s.tenant_id = l.tenant_id and s.memory_type = l.target_type and s.id = l.target_id
      )
      and not exists (
        select from memory.tombstones as t
        where t.tenant_id = l.tenant_id and t.memory_type = l.target_type and t.memory_id = l.target_id
      )
  ) as p
  join memory.imported_memories as i
    on i.tenant_id = check_restored.tenant_id and i.batch_id = check_restored.batch_id
      and i.memory_type = p.memory_type and i.memory_id = p.memory_id
  order by p.memory_type, p.memory_id, p.detail
  limit 1;
  if not found then
    select l.source_type as memory_type, l.source_id as memory_id, 'its link has no source' as detail
    into v_problem
    from memory.memory_links as l
    where l.tenant_id = check_restored.tenant_id
      and not exists (
        select from memory.searchable_memories as s
        where s.tenant_id = l.tenant_id and s.memory_type = l.source_type and s.id = l.source_id
      )
      and not exists (
        select from memory.tombstones as t
        where t.tenant_id = l.tenant_id and t.memory_type = l.source_type and t.memory_id = l.source_id
      )
    order by l.source_type, l.source_id, l.target_type, l.target_id
    limit 1;
  end if;
  if found then
    raise exception 'the export contradicts itself: % %: %',
      v_problem.memory_type, v_problem.memory_id, v_problem.detail
      using errcode = 'PM002',
        hint = 'Restore an export that nobody has changed, or one without its events.';
  end if;
end;
$$;

comment on function memory.check_restored(text, uuid) is
'Refuses restored memories that memory.verify_chain would report, or whose history or links are '
'broken. Errors: PM002.';

create or replace function memory.finish_restore()
  returns table (
    memory_type text,
    restored bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_restore jsonb := memory.current_restore();
  v_batch_id uuid := (v_restore ->> 'batch_id')::uuid;
begin
  begin
    set constraints memory.facts_tenant_id_supersedes_id_fkey immediate;
  exception when foreign_key_violation then
    raise exception 'a fact superseded one that neither the export nor the memory has'
      using errcode = 'PM002', hint = 'Restore an export that nobody has changed.';
  end;
  if (v_restore -> 'events')::boolean then
    perform memory.append_restored_events(v_tenant_id, v_batch_id);
  else
    perform memory.append_history_events(v_tenant_id, v_batch_id);
  end if;
  perform memory.check_restored(v_tenant_id, v_batch_id);

  update memory.import_batches as b
  set
    status = 'done',
    created = (
      select count(*) from memory.imported_memories as i
      where i.tenant_id = v_tenant_id and i.batch_id = v_batch_id
    )
  where b.tenant_id = v_tenant_id and b.id = v_batch_id;
  return query
  select t.type, count(i.memory_id)
  from unnest(memory.recorded_type_names()) with ordinality as t (type, place)
  left join memory.imported_memories as i
    on i.tenant_id = v_tenant_id and i.batch_id = v_batch_id and i.memory_type = t.type
  group by t.type, t.place
  order by t.place;
end;
$$;

comment on function memory.finish_restore() is
'Finishes a restore: appends the events of the export to the audit stream or, if it has none, '
'those that its history tells, and checks that memory.verify_chain has nothing to say against '
'what was restored. Events that were restored have the login and the time of the restore, because '
'a client can set neither; payload.restored holds those that they had. The hash chain seals them '
'like all others: a chain of the memory that was exported proves nothing here. Returns how many '
'memories of each type were restored. Errors: PM002 the export contradicts itself or is not '
'complete, PM003 no restore has begun in this transaction.';
grant execute on function memory.finish_restore to memory_admin;

commit;
