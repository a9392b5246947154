-- Deploy pymem:tables/links to pg
-- requires: tables/episodes
-- requires: tables/facts
-- requires: tables/rules

begin;

set local role memory_owner;

create table memory.memory_links (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
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

-- Few links contradict, and reviewers ask for these alone.
create index memory_links_contradicts_idx
on memory.memory_links (tenant_id, created_at) where relation = 'contradicts';

comment on table memory.memory_links is
'Provenance: directed edges between memories, at most one per ordered pair. An edge outlives an '
'episode that is deleted, so there is no foreign key; a trigger checks both ends when it is made.';
comment on column memory.memory_links.relation is
'derived_from, supports, contradicts, supersedes or related_to: what the source is to the target.';

-- The key-share locks keep the ends from being deleted before this transaction ends.
create function memory.check_link_ends()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_end record;
begin
  select e.memory_type, e.memory_id into v_end
  from new_rows as n
  cross join lateral (values
    (1, n.source_type, n.source_id), (2, n.target_type, n.target_id)
  ) as e (position, memory_type, memory_id)
  where case e.memory_type
    when 'episode' then (
      select true from memory.episodes as m
      where m.tenant_id = n.tenant_id and m.id = e.memory_id
      for key share
    )
    when 'fact' then (
      select true from memory.facts as m
      where m.tenant_id = n.tenant_id and m.id = e.memory_id
      for key share
    )
    when 'rule' then (
      select true from memory.rules as m
      where m.tenant_id = n.tenant_id and m.id = e.memory_id
      for key share
    )
  end is null
  order by n.source_type, n.source_id, n.target_type, n.target_id, n.tenant_id, e.position
  limit 1;
  if found then
    raise exception 'no % has id %', v_end.memory_type, v_end.memory_id
      using errcode = 'PM001', hint = 'Link two memories that exist; find ids with memory.search.';
  end if;
  return null;
end;
$$;

comment on function memory.check_link_ends() is
'Trigger of a statement: both ends of its links exist in the tenant of the link. Errors: PM001.';

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

create function memory.lower_trust()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_lower record;
begin
  for v_lower in
    select
      n.tenant_id, n.source_type, n.source_id,
      case
        when bool_or(t.trust = 'external') then 'external'
        when bool_or(t.trust = 'tool') then 'tool'
        else 'agent'
      end as trust
    from new_rows as n
    cross join lateral (
      select e.source_class as trust from memory.episodes as e
      where n.target_type = 'episode' and e.tenant_id = n.tenant_id and e.id = n.target_id
      union all
      select f.trust from memory.facts as f
      where n.target_type = 'fact' and f.tenant_id = n.tenant_id and f.id = n.target_id
      union all
      select r.trust from memory.rules as r
      where n.target_type = 'rule' and r.tenant_id = n.tenant_id and r.id = n.target_id
    ) as t
    where n.relation = 'derived_from' and n.source_type in ('fact', 'rule') and t.trust <> 'user'
    group by n.tenant_id, n.source_type, n.source_id
    order by n.source_type, n.source_id, n.tenant_id
  loop
    if v_lower.source_type = 'fact' then
      update memory.facts as f
      set trust = v_lower.trust
      where f.tenant_id = v_lower.tenant_id and f.id = v_lower.source_id
        and memory.least_trust(f.trust, v_lower.trust) <> f.trust;
    else
      update memory.rules as r
      set trust = v_lower.trust
      where r.tenant_id = v_lower.tenant_id and r.id = v_lower.source_id
        and memory.least_trust(r.trust, v_lower.trust) <> r.trust;
    end if;
  end loop;
  return null;
end;
$$;

comment on function memory.lower_trust() is
'Trigger of a statement: a fact or rule is trusted no more than what it is derived from.';

create trigger lower_trust
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.lower_trust();

create trigger check_ends
after insert on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.check_link_ends();

create trigger check_changed_ends
after update on memory.memory_links
referencing new table as new_rows
for each statement execute function memory.check_link_ends();

commit;
