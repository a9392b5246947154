-- Deploy pymem:tables/entities to pg
-- requires: schema

begin;

set local role memory_owner;

create table memory.entities (
  tenant_id text not null check (tenant_id <> '' and octet_length(tenant_id) <= 128),
  id uuid not null default gen_random_uuid(),
  canonical_name varchar not null
  check (canonical_name <> '' and octet_length(canonical_name) <= 512),
  entity_type varchar not null
  constraint entities_entity_type_check
  check (entity_type in ('person', 'organization', 'place', 'other')),
  aliases text[] not null default '{}' check (array_position(aliases, null) is null),
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
comment on column memory.entities.aliases is 'Other names it is known by.';
comment on column memory.entities.metadata is
'Whatever the caller wants to keep with it; merged_into names the entity it was merged into.';
comment on column memory.entities.lifecycle_state is
'active, or merged into another; see memory.transitions.';

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

commit;
