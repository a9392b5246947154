-- Deploy pymem:tables/links to pg
-- requires: tables/episodes
-- requires: tables/facts
-- requires: tables/rules

begin;

set local role memory_owner;

create table memory.memory_links (
  tenant_id text not null check (tenant_id <> '' and octet_length(tenant_id) <= 128),
  source_type text not null
  constraint memory_links_source_type_check check (source_type in ('episode', 'fact', 'rule')),
  source_id uuid not null,
  target_type text not null
  constraint memory_links_target_type_check check (target_type in ('episode', 'fact', 'rule')),
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

comment on table memory.memory_links is
'Provenance: directed edges between memories, at most one per ordered pair. An edge outlives an '
'episode that is deleted, so there is no foreign key; a trigger checks both ends when it is made.';
comment on column memory.memory_links.relation is
'derived_from, supports, contradicts, supersedes or related_to: what the source is to the target.';

create function memory.check_link_ends()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if not memory.memory_exists(new.tenant_id, new.source_type, new.source_id) then
    raise exception 'no % has id %', new.source_type, new.source_id
      using errcode = 'PM001', hint = 'Link two memories that exist; find ids with memory.search.';
  end if;
  if not memory.memory_exists(new.tenant_id, new.target_type, new.target_id) then
    raise exception 'no % has id %', new.target_type, new.target_id
      using errcode = 'PM001', hint = 'Link two memories that exist; find ids with memory.search.';
  end if;
  return new;
end;
$$;

comment on function memory.check_link_ends() is
'Trigger: both ends of a link exist in the tenant of the link.';

-- The key-share lock keeps the end from being deleted before this transaction ends.
create function memory.memory_exists(
  tenant_id text,
  memory_type text,
  memory_id uuid
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  case memory_type
    when 'episode' then
      perform from memory.episodes as e
      where e.tenant_id = memory_exists.tenant_id and e.id = memory_id for key share;
    when 'fact' then
      perform from memory.facts as f
      where f.tenant_id = memory_exists.tenant_id and f.id = memory_id for key share;
    when 'rule' then
      perform from memory.rules as r
      where r.tenant_id = memory_exists.tenant_id and r.id = memory_id for key share;
    else
      return false;
  end case;
  return found;
end;
$$;

comment on function memory.memory_exists(text, text, uuid) is
'Whether an episode, fact or rule exists, locked against deletion until the end of the '
'transaction.';

create trigger check_ends
before insert or update of tenant_id, source_type, source_id, target_type, target_id
on memory.memory_links
for each row execute function memory.check_link_ends();

commit;
