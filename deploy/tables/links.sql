-- Deploy pymem:tables/links to pg

begin;

set local role memory_owner;

create table memory.memory_links (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  source_type text not null
  constraint memory_links_source_type_check check (source_type = any(memory.memory_type_names())),
  source_id uuid not null,
  target_type text not null
  constraint memory_links_target_type_check check (target_type = any(memory.memory_type_names())),
  target_id uuid not null,
  relation text not null
  constraint memory_links_relation_check
  check (relation in ('derived_from', 'supports', 'contradicts', 'supersedes', 'related_to')),
  created_at timestamptz not null default now() check (isfinite(created_at)),
  primary key (tenant_id, source_type, source_id, target_type, target_id),
  constraint memory_links_no_self_link_check check (source_id <> target_id)
);

create index memory_links_target_idx
on memory.memory_links (tenant_id, target_type, target_id, source_type, source_id);

-- Few links are contradictions, and reviewers query only these.
create index memory_links_contradicts_idx
on memory.memory_links (tenant_id, created_at) where relation = 'contradicts';

comment on table memory.memory_links is
'Provenance: directed edges between memories, at most one per ordered pair. An edge outlives a '
'deleted episode, so there is no foreign key; a trigger checks both ends when it is created.';
comment on column memory.memory_links.relation is
'derived_from, supports, contradicts, supersedes or related_to: what the source is to the target.';

commit;
