-- Deploy pymem:functions/core/embedding/embedding_queue to pg

begin;

set local role memory_owner;

create or replace function memory.enqueue_embedding()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text;
begin
  if exists (select from new_rows as n where n.embedding is null) then
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    select n.tenant_id, 'active', tg_argv[0], n.id
    from new_rows as n
    where n.embedding is null;
  end if;
  -- The lock makes the switch or cancellation of a model change wait for this transaction.
  for v_tenant_id in
    select v.tenant_id
    from memory.embedding_versions as v
    where v.tenant_id in (select n.tenant_id from new_rows as n) and v.status = 'building'
    order by v.tenant_id
    for key share
  loop
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    select n.tenant_id, 'building', tg_argv[0], n.id
    from new_rows as n
    where n.tenant_id = v_tenant_id;
  end loop;
  return null;
end;
$$;

comment on function memory.enqueue_embedding() is
'Statement trigger: queues new memories for the vectors they lack. Argument: their type.';

create or replace function memory.forget_embedding()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.embedding_queue as q
  where q.tenant_id = old.tenant_id
    and q.target in ('active', 'building')
    and q.memory_type = tg_argv[0]
    and q.memory_id = old.id;
  delete from memory.staged_embeddings as s
  where s.tenant_id = old.tenant_id and s.memory_type = tg_argv[0] and s.memory_id = old.id;
  return null;
end;
$$;

comment on function memory.forget_embedding() is
'Trigger: removes a deleted memory from the queue, and its staged vector. Argument: its type.';

create or replace function memory.requeue_embedding()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.staged_embeddings as s
  where s.tenant_id = new.tenant_id and s.memory_type = tg_argv[0] and s.memory_id = new.id;
  insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
  select new.tenant_id, t.target, tg_argv[0], new.id
  from (
    select 'active' as target
    union all
    select b.status
    from (
      select v.status from memory.embedding_versions as v
      where v.tenant_id = new.tenant_id and v.status = 'building'
      for key share
    ) as b
  ) as t
  on conflict (tenant_id, target, memory_type, memory_id) do update set
    enqueued_at = excluded.enqueued_at,
    claimed_until = excluded.claimed_until,
    attempts = excluded.attempts;
  return null;
end;
$$;

comment on function memory.requeue_embedding() is
'Trigger: queues a memory whose text has changed for new vectors, even if a worker is embedding '
'the old text. Argument: its type.';

commit;
