-- Deploy pymem:functions/extras/transfer/undo_import to pg

begin;

set local role memory_owner;

create or replace function memory.list_imports(
  max_results integer default 50,
  before_at timestamptz default null,
  before_id uuid default null
)
  returns table (
    id uuid,
    name text,
    format text,
    source_class text,
    status text,
    created bigint,
    known bigint,
    started_at timestamptz,
    undone_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_number('max_results', max_results, 1, 10000);
  if before_id is not null and before_at is null then
    raise exception 'before_id without before_at'
      using errcode = 'PM002', hint = 'Pass started_at and id of the last import seen.';
  end if;
  return query
  select
    b.id, b.name, b.format, b.source_class, b.status, b.created, b.known, b.started_at, b.undone_at
  from memory.import_batches as b
  where b.tenant_id = v_tenant_id
    and (
      before_at is null or b.started_at < before_at
      or b.started_at = before_at and b.id > before_id
    )
  order by b.started_at desc, b.id
  limit max_results;
end;
$$;

comment on function memory.list_imports(integer, timestamptz, uuid) is
'The imports of the tenant, newest first: their names and formats, how many memories they stored '
'and how many were there already. To read the next page, pass started_at and id of the last import '
'as before_at and before_id. Errors: PM002.';
grant execute on function memory.list_imports to memory_writer, memory_reader, memory_admin;

create or replace function memory.classify_imported(
  tenant_id text,
  batch_id uuid
)
  returns table (
    memory_type text,
    memory_id uuid,
    outcome text
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    i.memory_type, i.memory_id,
    case
      when i.memory_type = 'entity' then 'kept'
      when i.memory_type = 'item' then
        case
          when t.id is null then 'deleted since'
          when t.updated_at > i.imported_at then 'changed since'
        end
      when s.id is null then 'deleted since'
      when s.lifecycle_state = 'retracted' then 'forgotten since'
      when i.memory_type <> 'episode' and s.last_confirmed_at > i.imported_at then 'confirmed since'
      when r.last_applied_at > i.imported_at then 'applied since'
      when e.edited_at > i.imported_at then 'changed since'
    end
  from memory.imported_memories as i
  left join memory.searchable_memories as s
    on s.tenant_id = i.tenant_id and s.memory_type = i.memory_type and s.id = i.memory_id
  left join memory.rules as r
    on i.memory_type = 'rule' and r.tenant_id = i.tenant_id and r.id = i.memory_id
  left join memory.entries as e
    on i.memory_type = 'entry' and e.tenant_id = i.tenant_id and e.id = i.memory_id
  left join memory.store_items as t
    on i.memory_type = 'item' and t.tenant_id = i.tenant_id and t.id = i.memory_id
  where i.tenant_id = classify_imported.tenant_id and i.batch_id = classify_imported.batch_id;
$$;

comment on function memory.classify_imported(text, uuid) is
'Why a memory of an import is not forgotten with it; NULL: it is.';

create or replace function memory.take_back(
  tenant_id text,
  memory_type text,
  memory_ids uuid[],
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_type memory.memory_types;
begin
  select t.* into strict v_type
  from memory.memory_types as t
  where t.memory_type = take_back.memory_type;
  execute format(
    $query$
      with locked as (
        select m.id from memory.%1$I as m
        where m.tenant_id = $2 and m.id = any ($3)
        order by m.id
        for no key update
      )
      update memory.%1$I as m
      set
        %2$s, updated_at = memory.next_state_at(m.updated_at, $1),
        idempotency_key = case when %3$s then m.idempotency_key end
      from locked as l
      where m.tenant_id = $2 and m.id = l.id and %4$s
    $query$,
    v_type.table_name, v_type.forget_assignments,
    case memory_type when 'entry' then 'm.policy = ''billy''' else 'false' end,
    v_type.forgettable_condition
  ) using as_of, tenant_id, memory_ids;
end;
$$;

comment on function memory.take_back(text, text, uuid[], timestamptz) is
'Forgets memories as of as_of, unless they are already. Other than those of memory.forget_memory, '
'they give their idempotency keys up, so that the same can be stored again.';

create or replace function memory.undo_import(
  batch text,
  as_of timestamptz default now()
)
  returns table (
    memory_type text,
    outcome text,
    memories bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_batch memory.import_batches;
  v_type memory.memory_types;
  v_ids uuid[];
  v_predecessors uuid[];
  v_predecessor uuid;
  v_restored bigint := 0::bigint;
  v_outcomes jsonb;
begin
  perform
    memory.check_write_time('as_of', as_of),
    memory.check_text('batch', batch, 128);
  select b.* into v_batch
  from memory.import_batches as b
  where b.tenant_id = v_tenant_id and (b.name = batch or b.id::text = lower(batch))
  order by b.name <> batch
  limit 1
  for no key update;
  if not found then
    raise exception 'there is no import %', quote_literal(batch)
      using errcode = 'PM001', hint = 'Find imports with memory.list_imports.';
  end if;
  if v_batch.status = 'undone' then
    return;
  end if;

  -- Facts that were there before, and return if nothing else has come under their keys. Keys are
  -- locked before facts, as everybody does.
  v_predecessors := array(
    select p.id
    from memory.imported_memories as i
    join memory.memory_links as l
      on l.tenant_id = i.tenant_id and l.source_type = 'fact' and l.source_id = i.memory_id
        and l.target_type = 'fact' and l.relation = 'supersedes'
    join memory.facts as p on p.tenant_id = l.tenant_id and p.id = l.target_id
    where i.tenant_id = v_tenant_id and i.batch_id = v_batch.id and i.memory_type = 'fact'
      and p.validity = 'superseded'
      and not exists (
        select from memory.imported_memories as o
        where o.tenant_id = v_tenant_id and o.batch_id = v_batch.id and o.memory_type = 'fact'
          and o.memory_id = p.id
      )
    order by p.id
  );
  perform memory.lock_keys_of_facts(v_tenant_id, v_predecessors);

  v_outcomes := coalesce(
    (
      select jsonb_object_agg(t.memory_type, t.outcomes)
      from (
        select c.memory_type, jsonb_object_agg(c.outcome, c.memories) as outcomes
        from (
          select o.memory_type, coalesce(o.outcome, 'forgotten') as outcome, count(*) as memories
          from memory.classify_imported(v_tenant_id, v_batch.id) as o
          group by 1, 2
        ) as c
        group by c.memory_type
      ) as t
    ),
    '{}'
  );
  for v_type in
    select t.* from memory.memory_types as t where t.memory_type <> 'entity' order by t.position
  loop
    v_ids := array(
      select c.memory_id
      from memory.classify_imported(v_tenant_id, v_batch.id) as c
      where c.memory_type = v_type.memory_type and c.outcome is null
      order by c.memory_id
    );
    continue when v_ids = '{}';
    if v_type.memory_type = 'item' then
      delete from memory.store_items as i
      where i.tenant_id = v_tenant_id
        and i.id in (
          select o.id from memory.store_items as o
          where o.tenant_id = v_tenant_id and o.id = any (v_ids)
          order by o.namespace, o.key
          for update
        );
    else
      perform memory.take_back(v_tenant_id, v_type.memory_type, v_ids, as_of);
    end if;
  end loop;

  foreach v_predecessor in array v_predecessors loop
    if exists (
      select from memory.facts as f
      where f.tenant_id = v_tenant_id and f.id = v_predecessor
        and not memory.is_fact_key_taken(f)
    ) then
      perform memory.restore_memory('fact', v_predecessor, as_of);
      v_restored := v_restored + 1;
    end if;
  end loop;

  update memory.import_batches as b
  set status = 'undone', undone_at = as_of
  where b.tenant_id = v_tenant_id and b.id = v_batch.id;

  return query
  select r.memory_type, r.outcome, r.memories
  from (
    select t.key as memory_type, o.key as outcome, (o.value #>> '{}')::bigint as memories
    from jsonb_each(v_outcomes) as t
    cross join lateral jsonb_each(t.value) as o
    union all
    select 'fact', 'its predecessor restored', v_restored where v_restored > 0
  ) as r
  order by array_position(memory.recorded_type_names(), r.memory_type), r.outcome;
end;
$$;

comment on function memory.undo_import(text, timestamptz) is
'Forgets what an import, named or by its id, has stored (memory.restore_memory brings single '
'memories back), unless something newer depends on it: what was confirmed, applied, edited or '
'forgotten since stays as it is, and so do entities, and what was learned from its episodes. Facts '
'that it superseded are restored. Importing the same again then stores it again. Returns how many '
'memories of each type had which outcome; nothing if it was undone before. Errors: PM001 unknown '
'import, PM002.';
grant execute on function memory.undo_import to memory_writer, memory_admin;

commit;
