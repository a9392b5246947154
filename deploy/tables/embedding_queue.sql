-- Deploy pymem:tables/embedding_queue to pg
-- requires: tables/embedding_versions
-- requires: tables/episodes
-- requires: tables/facts
-- requires: tables/rules

begin;

set local role memory_owner;

create table memory.embedding_queue (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  target text not null check (target in ('active', 'building')),
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  memory_id uuid not null,
  enqueued_at timestamptz not null default now() check (isfinite(enqueued_at)),
  claimed_until timestamptz check (isfinite(claimed_until)),
  attempts integer not null default 0 check (attempts >= 0),
  primary key (tenant_id, target, memory_type, memory_id)
) with (fillfactor = 70);

create index embedding_queue_order_idx
on memory.embedding_queue (tenant_id, target, attempts, enqueued_at, memory_type, memory_id);

comment on table memory.embedding_queue is
'Memories that lack a vector: of the active embedding version after a store without one, of the '
'version under construction during a change of model. Kept by triggers.';
comment on column memory.embedding_queue.target is
'Status of the embedding version whose vector is missing: active or building.';
comment on column memory.embedding_queue.claimed_until is
'A worker has it until then; NULL or past: free.';
comment on column memory.embedding_queue.attempts is 'How often it was claimed.';

create table memory.staged_embeddings (
  tenant_id text not null check (octet_length(tenant_id) <@ int4range '[1,128]'),
  memory_type text not null check (memory_type in ('episode', 'fact', 'rule')),
  memory_id uuid not null,
  embedding_version_id uuid not null,
  embedding public.vector(384) not null
  constraint staged_embeddings_norm_check
  check (public.vector_norm(embedding) between 1e-6 and 1e6),
  primary key (tenant_id, memory_type, memory_id),
  foreign key (tenant_id, embedding_version_id)
  references memory.embedding_versions (tenant_id, id) on delete cascade
);

create index staged_embeddings_version_idx
on memory.staged_embeddings (tenant_id, embedding_version_id);

comment on table memory.staged_embeddings is
'Vectors of the embedding version under construction, until memory.switch_embedding_version '
'moves them into the memories.';

create function memory.enqueue_embedding()
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
  -- The lock makes a switch or the end of a change of model wait for this transaction.
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
'Trigger of a statement: queues new memories for the vectors they lack. Argument: their type.';

create trigger enqueue_embedding
after insert on memory.episodes
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('episode');

create trigger enqueue_embedding
after insert on memory.facts
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('fact');

create trigger enqueue_embedding
after insert on memory.rules
referencing new table as new_rows
for each statement execute function memory.enqueue_embedding('rule');

create function memory.forget_embedding()
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
'Trigger: a deleted memory needs no vector any more. Argument: its type.';

create trigger forget_embedding
after delete on memory.episodes
for each row execute function memory.forget_embedding('episode');

create trigger forget_embedding
after delete on memory.facts
for each row execute function memory.forget_embedding('fact');

create trigger forget_embedding
after delete on memory.rules
for each row execute function memory.forget_embedding('rule');

create function memory.requeue_embedding()
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
'Trigger: queues a memory whose text has changed for new vectors, whoever was embedding the old '
'text. Argument: its type.';

create trigger requeue_embedding
after update of content on memory.rules
for each row when (old.content is distinct from new.content)
execute function memory.requeue_embedding('rule');

commit;
