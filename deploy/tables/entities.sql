-- Deploy pymem:tables/entities to pg

begin;

set local role memory_owner;

create table memory.entities (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  id uuid not null default gen_random_uuid(),
  canonical_name varchar not null
  check (octet_length(canonical_name) <@ int4range '[1,512]'),
  entity_type varchar not null
  constraint entities_entity_type_check
  check (entity_type::text in ('person', 'organization', 'place', 'other')),
  aliases text[] not null default '{}'
  constraint entities_aliases_check check (
    array_position(aliases, null) is null
    and array_position(aliases, '') is null
    and cardinality(aliases) <= 1000
    and octet_length(array_to_string(aliases, ' ')) <= 65536
  ),
  -- 64 KiB of the caller, and 1 KiB for what a merge notes.
  metadata jsonb not null default '{}'
  check (jsonb_typeof(metadata) = 'object' and octet_length(metadata::text) <= 66560),
  lifecycle_state text generated always as (
    case when metadata ? 'merged_into' then 'merged' else 'active' end
  ) stored,
  created_at timestamptz not null default now() check (isfinite(created_at)),
  updated_at timestamptz not null default now() check (isfinite(updated_at)),
  primary key (tenant_id, id),
  constraint entities_name_type_key unique (tenant_id, canonical_name, entity_type)
);

create index entities_name_idx on memory.entities (tenant_id, canonical_name);

create index entities_aliases_idx on memory.entities using gin (aliases) with (fastupdate = off);

create index entities_metadata_idx on memory.entities using gin (metadata) with (fastupdate = off);

comment on table memory.entities is
'People, organizations, places and things that facts are about: stable identities where one name '
'may refer to several.';
comment on column memory.entities.canonical_name is 'Its main name.';
comment on column memory.entities.entity_type is 'person, organization, place or other.';
comment on column memory.entities.aliases is 'Its other names: at most 1000, and 64 KiB in total.';
comment on column memory.entities.metadata is
'Any data of the caller; merged_into names the entity it was merged into.';
comment on column memory.entities.lifecycle_state is
'active or merged (into another entity); see memory.transitions.';
comment on column memory.entities.updated_at is
'When its current state began, by the clock of the caller (as_of). Earlier states are in '
'memory.memory_history.';

create table memory.entity_names (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  -- In collation "C", a search by prefix is a range of the index.
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
on memory.entity_names using gin (memory.name_terms(tenant_id, name)) with (fastupdate = off);

-- Only fuzzy resolution uses this index; without the extension it does not exist.
do $$
begin
  if memory.has_extension('pg_trgm') then
    create index entity_names_similarity_idx
    on memory.entity_names using gin (name public.gin_trgm_ops) with (fastupdate = off);
  end if;
end;
$$;

comment on table memory.entity_names is
'Each name of each entity that was not merged away, maintained by trigger for lookups by name.';
comment on column memory.entity_names.name is 'The name, folded by memory.fold_name.';
comment on column memory.entity_names.is_canonical is
'Whether it is the canonical name or an alias.';

commit;
