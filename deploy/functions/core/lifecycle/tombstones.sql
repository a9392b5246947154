-- Deploy pymem:functions/core/lifecycle/tombstones to pg

begin;

set local role memory_owner;

create or replace function memory.create_tombstones()
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

comment on function memory.create_tombstones() is
'Trigger: leaves a tombstone for each deleted memory that has links. Argument: the memory type.';

commit;
