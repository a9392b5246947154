-- Deploy pymem:functions/core/store/entities to pg

begin;

set local role memory_owner;

create or replace function memory.read_aliases(aliases text[])
  returns text[]
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if aliases is null or array_ndims(aliases) > 1 then
    raise exception 'aliases are not a list of names'
      using errcode = 'PM002', hint = 'Pass all aliases as a list, {} for none.';
  end if;
  perform memory.check_text('alias ' || a.place, memory.collapse_whitespace(a.alias), 512)
  from unnest(aliases) with ordinality as a (alias, place)
  order by a.place;
  if cardinality(aliases) > 1000 or octet_length(array_to_string(aliases, ' ')) > 65536 then
    raise exception 'there are % aliases of % bytes in total',
      cardinality(aliases), octet_length(array_to_string(aliases, ' '))
      using errcode = 'PM002', hint = 'Pass at most 1000 aliases, of 64 KiB in total.';
  end if;
  return array(
    select n.alias
    from (
      select distinct on (memory.fold_name(a.alias))
        memory.collapse_whitespace(a.alias) as alias, a.place
      from unnest(aliases) with ordinality as a (alias, place)
      order by memory.fold_name(a.alias), a.place
    ) as n
    order by n.place
  );
end;
$$;

comment on function memory.read_aliases(text[]) is
'Aliases with whitespace collapsed, without duplicates whatever their case and accents '
'(memory.fold_name), in order. Errors: PM002.';

create or replace function memory.refuse_name(
  tenant_id text,
  canonical_name text,
  entity_type text
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_taken record;
begin
  select e.id, e.metadata ->> 'merged_into' as merged_into into v_taken
  from memory.entities as e
  where e.tenant_id = refuse_name.tenant_id and e.canonical_name = refuse_name.canonical_name
    and e.entity_type = refuse_name.entity_type;
  raise exception '% % already exists: entity %',
    entity_type, quote_literal(canonical_name), v_taken.id
    using errcode = 'PM004',
      hint = coalesce(
        'It was merged into entity ' || v_taken.merged_into || ': use that one.',
        'Use this entity, or choose another canonical_name to tell the two apart.'
      );
end;
$$;

comment on function memory.refuse_name(text, text, text) is
'Raises PM004: another entity has this canonical name and type.';

create or replace function memory.entity_create(
  canonical_name text,
  entity_type text,
  tenant_id text default null,
  aliases text[] default '{}',
  metadata jsonb default '{}',
  as_of timestamptz default now()
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
  v_name text := memory.collapse_whitespace(entity_create.canonical_name);
  v_id uuid;
begin
  if entity_create.tenant_id is not null then
    perform memory.require_tenant(entity_create.tenant_id);
  end if;
  perform
    memory.check_text('canonical_name', v_name, 512),
    memory.check_word(
      'entity_type', entity_create.entity_type, '{person,organization,place,other}'
    ),
    memory.check_metadata(entity_create.metadata, '{merged_into}'),
    memory.check_write_time('as_of', as_of);

  insert into memory.entities (
    tenant_id, canonical_name, entity_type, aliases, metadata, created_at, updated_at
  )
  values (
    v_tenant_id, v_name, entity_create.entity_type, memory.read_aliases(entity_create.aliases),
    entity_create.metadata, as_of, as_of
  )
  on conflict (tenant_id, canonical_name, entity_type) do nothing
  returning id into v_id;
  if v_id is null then
    perform memory.refuse_name(v_tenant_id, v_name, entity_create.entity_type);
  end if;
  return v_id;
end;
$$;

comment on function memory.entity_create(text, text, text, text[], jsonb, timestamptz) is
'Creates an entity, a person, organization, place or other, and returns its id. Whitespace in '
'names is collapsed. Aliases that differ only in case or accents count as one; canonical names '
'that differ in them are distinct. tenant_id, if given, must be that of the request. Errors: PM002 '
'invalid argument, PM004 this name and type exist (the message names the entity), PM005 another '
'tenant.';
grant execute on function memory.entity_create to memory_writer;

create or replace function memory.entity_get(entity_id uuid)
  returns table (
    id uuid,
    canonical_name text,
    entity_type text,
    aliases text[],
    metadata jsonb,
    lifecycle_state text,
    merged_into uuid,
    active_facts bigint,
    created_at timestamptz,
    updated_at timestamptz
  )
  language plpgsql
  stable
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  with recursive merged as (
    select (e.metadata ->> 'merged_into')::uuid as id
    from memory.entities as e
    where e.tenant_id = v_tenant_id and e.id = entity_id and e.metadata ? 'merged_into'
    union
    select (e.metadata ->> 'merged_into')::uuid
    from merged as m
    join memory.entities as e on e.tenant_id = v_tenant_id and e.id = m.id
    where e.metadata ? 'merged_into'
  )
  select
    e.id, e.canonical_name::text, e.entity_type::text, e.aliases, e.metadata - 'merged_into',
    e.lifecycle_state,
    (
      select m.id
      from merged as m
      join memory.entities as t on t.tenant_id = v_tenant_id and t.id = m.id
      where t.lifecycle_state = 'active'
    ),
    (
      select count(*)
      from memory.facts as f
      where f.tenant_id = v_tenant_id and f.entity_id = entity_get.entity_id
        and f.validity = 'active'
    ),
    e.created_at, e.updated_at
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = entity_get.entity_id;
end;
$$;

comment on function memory.entity_get(uuid) is
'An entity, and how many active facts are about it. For an entity that was merged away, '
'merged_into is the entity that replaces it now, across all further merges. No row for an unknown '
'id.';
grant execute on function memory.entity_get to memory_writer, memory_reader, memory_admin;

create or replace function memory.merge_keys(
  metadata jsonb,
  changes jsonb
)
  returns jsonb
  language sql
  immutable
  parallel safe
  return case
    when changes is null then metadata
    else (metadata || changes)
      - array(
        select c.key from jsonb_each(changes) as c where c.value = 'null' -- noqa: RF03
      )
  end;

comment on function memory.merge_keys(jsonb, jsonb) is
'An object with the keys of another one, but without those that are null there. NULL changes '
'nothing.';

create or replace function memory.entity_update(
  entity_id uuid,
  canonical_name text default null,
  aliases text[] default null,
  metadata jsonb default null,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_name text := memory.collapse_whitespace(entity_update.canonical_name);
  v_aliases text[];
  v_entity memory.entities;
begin
  if v_name is not null then
    perform memory.check_text('canonical_name', v_name, 512);
  end if;
  if entity_update.aliases is not null then
    v_aliases := memory.read_aliases(entity_update.aliases);
  end if;
  if entity_update.metadata is not null then
    perform memory.check_metadata(entity_update.metadata, '{merged_into}');
  end if;
  perform memory.check_write_time('as_of', as_of);

  select e.* into v_entity
  from memory.entities as e
  where e.tenant_id = v_tenant_id and e.id = entity_update.entity_id
  for no key update;
  if not found then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, 'entity', entity_update.entity_id, as_of);
  if v_entity.lifecycle_state = 'merged' then
    raise exception 'entity % was merged into %',
      v_entity.id, v_entity.metadata ->> 'merged_into'
      using errcode = 'PM003', hint = 'Change the entity it was merged into.';
  end if;
  perform memory.check_object(
    'merged metadata', memory.merge_keys(v_entity.metadata, entity_update.metadata)
  );

  begin
    update memory.entities as e
    set
      canonical_name = coalesce(v_name, e.canonical_name),
      aliases = coalesce(v_aliases, e.aliases),
      metadata = memory.merge_keys(e.metadata, entity_update.metadata),
      updated_at = memory.next_state_at(e.updated_at, as_of)
    where e.tenant_id = v_tenant_id and e.id = entity_update.entity_id;
  exception when unique_violation then
    perform memory.refuse_name(v_tenant_id, v_name, v_entity.entity_type);
  end;
  return true;
end;
$$;

comment on function memory.entity_update(uuid, text, text[], jsonb, timestamptz) is
'Changes an entity; NULL leaves a value unchanged. canonical_name and the list of aliases are '
'replaced; the keys of metadata are merged into the existing ones, and those with a JSON null are '
'removed. Returns whether the entity '
'exists. Errors: PM002 invalid argument, PM003 it was merged away, PM004 another entity has this '
'name and type.';
grant execute on function memory.entity_update to memory_writer;

commit;
