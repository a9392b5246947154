-- Deploy pymem:functions/extras/transfer/audit_import to pg

begin;

set local role memory_owner;

create or replace function memory.audit_import()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    if new.status = old.status and new.name = old.name then
      return null;
    end if;
  end if;
  perform memory.write_event(
    new.tenant_id,
    case
      when tg_op = 'INSERT' then 'import_started'
      when new.name <> old.name then 'import_renamed'
      when new.status = 'undone' then 'import_undone'
      when old.status = 'undone' then 'import_repeated'
      else 'import_finished'
    end,
    null, null,
    jsonb_build_object(
      'batch_id', new.id, 'format', new.format, 'source_class', new.source_class,
      'created', new.created
    )
  );
  return null;
end;
$$;

comment on function memory.audit_import() is
'Trigger: writes import_started, import_finished (a restore), import_undone and import_repeated, '
'with the id and the format of the import; its name may tell what is in it and stays out.';

-- SECURITY DEFINER because it runs at commit, with the rights of the caller.
create or replace function memory.refuse_unfinished_restore()
  returns trigger
  language plpgsql
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if exists (
    select from memory.import_batches as b
    where b.tenant_id = new.tenant_id and b.id = new.id and b.status = 'running'
  ) then
    raise exception 'the restore % is not finished', new.id
      using errcode = 'PM003', hint = 'Call memory.finish_restore in the same transaction.';
  end if;
  return null;
end;
$$;

comment on function memory.refuse_unfinished_restore() is
'Trigger at commit: a restore is finished (memory.finish_restore) in the transaction that began '
'it. Errors: PM003.';

commit;
