-- Deploy pymem:tables/tombstones to pg
-- requires: functions/audit
-- requires: tables/links

begin;

set local role memory_owner;

create table memory.tombstones (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  memory_id uuid not null,
  created_at timestamptz not null check (isfinite(created_at)),
  deleted_at timestamptz not null default now() check (isfinite(deleted_at)),
  primary key (tenant_id, memory_type, memory_id)
);

comment on table memory.tombstones is
'What is left of deleted memories that links name: that they were there, and nothing of their '
'content. Links to them resolve as expired.';
comment on column memory.tombstones.created_at is 'When the memory was created.';
comment on column memory.tombstones.deleted_at is
'Time of the transaction that deleted it, from the server''s clock only.';

create function memory.bury_memories()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  insert into memory.tombstones (tenant_id, memory_type, memory_id, created_at)
  select o.tenant_id, tg_argv[0], o.id, o.created_at
  from old_rows as o
  where exists (
      select from memory.memory_links as l
      where l.tenant_id = o.tenant_id and l.target_type = tg_argv[0] and l.target_id = o.id
    )
    or exists (
      select from memory.memory_links as l
      where l.tenant_id = o.tenant_id and l.source_type = tg_argv[0] and l.source_id = o.id
    );
  return null;
end;
$$;

comment on function memory.bury_memories() is
'Trigger: leaves a tombstone for each deleted memory that a link names. Argument: its type.';

create trigger bury
after delete on memory.episodes referencing old table as old_rows
for each statement execute function memory.bury_memories('episode');

create trigger refuse_change
before update or delete on memory.tombstones
for each row execute function memory.refuse_change();

create trigger refuse_truncate
before truncate on memory.tombstones
for each statement execute function memory.refuse_truncate();

commit;
