-- Deploy pymem:tables/entities to pg
-- requires: functions/text

begin;

set local role memory_owner;

create table memory.entities (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  canonical_name varchar not null
  check (octet_length(canonical_name) <@ int4range '[1,512]'),
  entity_type varchar not null
  constraint entities_entity_type_check
  check (entity_type in ('person', 'organization', 'place', 'other')),
  aliases text[] not null default '{}'
  constraint entities_aliases_check check (
    array_position(aliases, null) is null
    and array_position(aliases, '') is null
    and cardinality(aliases) <= 1000
    and octet_length(array_to_string(aliases, ' ')) <= 65536
  ),
  metadata jsonb not null default '{}'
  check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 65536),
  lifecycle_state text generated always as (
    case when metadata ? 'merged_into' then 'merged' else 'active' end
  ) stored,
  created_at timestamptz not null default now() check (isfinite(created_at)),
  updated_at timestamptz not null default now() check (isfinite(updated_at)),
  primary key (tenant_id, id),
  constraint entities_name_type_key unique (tenant_id, canonical_name, entity_type)
);

create index entities_name_idx on memory.entities (tenant_id, canonical_name);
create index entities_aliases_idx on memory.entities using gin (aliases);
create index entities_metadata_idx on memory.entities using gin (metadata);

comment on table memory.entities is
'Who and what facts are about: a stable identity where the same name may mean several people or '
'things.';
comment on column memory.entities.canonical_name is 'The one name it goes by.';
comment on column memory.entities.entity_type is 'person, organization, place or other.';
comment on column memory.entities.aliases is
'Other names it is known by: at most 1000, and 64 KiB in all.';
comment on column memory.entities.metadata is
'Whatever the caller wants to keep with it; merged_into names the entity it was merged into.';
comment on column memory.entities.lifecycle_state is
'active, or merged into another; see memory.transitions.';
comment on column memory.entities.updated_at is
'Since when it is called so, on the clock of whoever changed it. What it was before is in '
'memory.memory_history.';

create function memory.prepare_entity()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if (
    (new.tenant_id, new.id, new.created_at) is distinct from (old.tenant_id, old.id, old.created_at)
  ) then
    raise exception 'entity % keeps its identity', old.id
      using errcode = 'PM006', hint = 'Create another entity, and merge this one into it.';
  end if;
  return new;
end;
$$;

comment on function memory.prepare_entity() is
'Trigger: keeps the identity of an entity as created.';

create trigger prepare
before update of tenant_id, id, created_at on memory.entities
for each row execute function memory.prepare_entity();

-- The names of an entity, as memory.entity_resolve compares them: what is searched by index, and
-- what two entities may share.
create function memory.fold_name(name text)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when octet_length(name) = length(name) then lower(memory.collapse_whitespace(name))
    -- Of marks alone folding leaves nothing.
    else coalesce(
      nullif(
        memory.collapse_whitespace(translate(
          memory.fold_text(lower(memory.fold_text(name))), U&'\2018\2019\02BC\2010', '''''''-'
        )),
        ''
      ),
      lower(memory.collapse_whitespace(name))
    )
  end;

comment on function memory.fold_name(text) is
'A name folded (memory.fold_text) and in lower case, each run of whitespace one space, curly '
'apostrophes and other hyphens those of ASCII: equal for names that differ in nothing else.';

create function memory.name_terms(
  tenant_id text,
  name text
)
  returns bigint[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.hash_terms(
    tenant_id,
    array(
      select distinct substr(name, g.start, 3)
      from generate_series(1, char_length(name) - 2) as g (start)
    )
  );
$$;

comment on function memory.name_terms(text, text) is
'Keys of the runs of three characters in a name (memory.hash_terms); none for a shorter one. '
'Whatever contains a text has all keys of the text.';

create table memory.entity_names (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  name text collate "C" not null check (name <> ''),
  entity_id uuid not null,
  entity_type varchar not null,
  is_canonical boolean not null,
  primary key (tenant_id, name, entity_id) include (entity_type, is_canonical),
  foreign key (tenant_id, entity_id)
  references memory.entities (tenant_id, id) on delete cascade
);

create index entity_names_entity_idx on memory.entity_names (tenant_id, entity_id);

create index entity_names_terms_idx
on memory.entity_names using gin (memory.name_terms(tenant_id, name));

-- For fuzzy resolution, where the extension is there; without it there is none.
do $$
begin
  if exists (
    select from pg_extension as e
    where e.extname = 'pg_trgm' and e.extnamespace = 'public'::regnamespace
  ) then
    create index entity_names_similarity_idx
    on memory.entity_names using gin (name public.gin_trgm_ops);
  end if;
end;
$$;

comment on table memory.entity_names is
'Each name of each entity that was not merged away, kept by trigger: what names are looked up in.';
comment on column memory.entity_names.name is 'The name, by memory.fold_name.';
comment on column memory.entity_names.is_canonical is
'Whether it is the canonical name; otherwise it is an alias.';

-- Statement triggers: an import of many entities writes their names at once.
create function memory.write_names()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    delete from memory.entity_names as n
    using new_rows as e
    where n.tenant_id = e.tenant_id and n.entity_id = e.id;
  end if;
  insert into memory.entity_names (tenant_id, name, entity_id, entity_type, is_canonical)
  select distinct on (e.tenant_id, e.id, n.name)
    e.tenant_id, n.name, e.id, e.entity_type, n.is_canonical
  from new_rows as e
  cross join lateral (
    select memory.fold_name(e.canonical_name) as name, true as is_canonical
    union all
    select memory.fold_name(a.alias), false from unnest(e.aliases) as a (alias)
  ) as n
  where e.lifecycle_state = 'active' and n.name <> ''
  order by e.tenant_id, e.id, n.name, n.is_canonical desc;
  return null;
end;
$$;

comment on function memory.write_names() is
'Trigger of a statement on entities: keeps memory.entity_names.';

create trigger write_names
after insert on memory.entities referencing new table as new_rows
for each statement execute function memory.write_names();

create trigger write_changed_names
after update on memory.entities referencing new table as new_rows
for each statement execute function memory.write_names();

commit;
