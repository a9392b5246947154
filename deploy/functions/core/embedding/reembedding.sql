-- Deploy pymem:functions/core/embedding/reembedding to pg

begin;

set local role memory_owner;

create or replace function memory.enqueue_missing_embeddings(
  tenant_id text,
  embedding_version_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
  select m.tenant_id, 'building', m.memory_type, m.id
  from memory.searchable_memories as m
  where m.tenant_id = enqueue_missing_embeddings.tenant_id
    and not exists (
      select from memory.staged_embeddings as s
      where s.tenant_id = enqueue_missing_embeddings.tenant_id
        and s.memory_type = m.memory_type
        and s.memory_id = m.id
        and s.embedding_version_id = enqueue_missing_embeddings.embedding_version_id
    )
  on conflict do nothing;
end;
$$;

comment on function memory.enqueue_missing_embeddings(text, uuid) is
'Queues every memory of a tenant that lacks a vector of the version being built.';

create or replace function memory.start_reembedding(
  model text,
  version text,
  dimensions integer default 384,
  similarity_floor float8 default null,
  similarity_ceiling float8 default null
)
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_version memory.embedding_versions;
begin
  perform memory.check_model('model', model, 256);
  perform memory.check_model('version', version, 128);
  perform memory.check_dimensions(dimensions);
  perform memory.check_similarity_scale(similarity_floor, similarity_ceiling);

  -- One start at a time; stores, which hold key-share locks, continue.
  perform from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id
  order by v.id
  for no key update;

  select v.* into v_version
  from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status = 'building';
  if found then
    if v_version.model = start_reembedding.model
      and v_version.version = start_reembedding.version
      and v_version.rendering = v_settings.embedding_rendering
    then
      perform memory.enqueue_missing_embeddings(v_tenant_id, v_version.id);
      return v_version.id;
    end if;
    raise exception 're-embedding with model % version % (rendering %) is under way',
      v_version.model, v_version.version, v_version.rendering
      using errcode = 'PM004',
        hint = 'Finish it with memory.activate_embedding_version, or memory.cancel_reembedding.';
  end if;

  insert into memory.embedding_versions as v
    (
      tenant_id, model, version, rendering, dimensions, similarity_floor, similarity_ceiling, status
    )
  values (
    v_tenant_id, start_reembedding.model, start_reembedding.version,
    v_settings.embedding_rendering, start_reembedding.dimensions,
    coalesce(start_reembedding.similarity_floor, 0.05),
    coalesce(start_reembedding.similarity_ceiling, 0.75), 'building'
  )
  on conflict (tenant_id, model, version, rendering) do update set status = 'building'
  where v.status = 'retired'
  returning v.* into v_version;
  if v_version.id is null then
    raise exception 'model % version % is already active, with rendering %',
      start_reembedding.model, start_reembedding.version, v_settings.embedding_rendering
      using errcode = 'PM004',
        hint = 'Pass another model or version, or configure another embedding_rendering first.';
  end if;
  perform memory.enqueue_missing_embeddings(v_tenant_id, v_version.id);
  return v_version.id;
end;
$$;

comment on function memory.start_reembedding(text, text, integer, float8, float8) is
'Starts a change of the embedding model or of the text that is embedded (the setting '
'embedding_rendering): queues every memory for the new version, whose vectors wait beside the old '
'ones while searches use the old version. Returns the id of the new version; calling it again for '
'the same version queues only what is missing. similarity_floor, similarity_ceiling: as in '
'memory.register_embedding_version. Errors: PM004 another change is under way or the version is '
'already active, PM002 dimensions other than 384.';
grant execute on function memory.start_reembedding to memory_admin;

create or replace function memory.cancel_reembedding()
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  -- Waits for concurrent stores of vectors of this version, so that none stays behind.
  perform from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status = 'building'
  for update;
  update memory.embedding_versions as v set status = 'retired'
  where v.tenant_id = v_tenant_id and v.status = 'building';
  if not found then
    return false;
  end if;
  delete from memory.staged_embeddings as s where s.tenant_id = v_tenant_id;
  delete from memory.embedding_queue as q where q.tenant_id = v_tenant_id and q.target = 'building';
  return true;
end;
$$;

comment on function memory.cancel_reembedding() is
'Cancels a change of embedding model and discards its vectors. Returns whether one was under way.';
grant execute on function memory.cancel_reembedding to memory_admin;

-- Stores hold a key-share lock on the version of their vector until they commit. After the two FOR
-- UPDATE locks, every vector of the old version is visible here, and no more can follow.
create or replace function memory.activate_embedding_version()
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_type record;
  v_tenant_id text := memory.current_tenant();
  v_old_id uuid;
  v_new_id uuid;
  v_waiting bigint;
  v_count bigint;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the switch cannot run in a % transaction',
      current_setting('transaction_isolation')
      using errcode = 'PM002',
        hint = 'Run it at READ COMMITTED, so that it sees every store it waited for.';
  end if;

  perform from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status in ('active', 'building')
  order by v.id
  for update;

  select v.id into v_new_id
  from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status = 'building';
  if not found then
    raise exception 'no re-embedding is under way'
      using errcode = 'PM004', hint = 'Begin one with memory.start_reembedding(model, version).';
  end if;
  select v.id into v_old_id
  from memory.embedding_versions as v
  where v.tenant_id = v_tenant_id and v.status = 'active';

  select count(*) into v_waiting
  from memory.searchable_memories as m
  where m.tenant_id = v_tenant_id
    and m.embedding is not null
    and not exists (
      select from memory.staged_embeddings as s
      where s.tenant_id = v_tenant_id and s.memory_type = m.memory_type and s.memory_id = m.id
        and s.embedding_version_id = v_new_id
    );
  if v_waiting > 0 then
    raise exception '% memories have no vector of the new version yet', v_waiting
      using errcode = 'PM004',
        hint = 'Call memory.start_reembedding again, let the embedding worker finish, then switch.';
  end if;

  update memory.embedding_versions as v set status = 'retired'
  where v.tenant_id = v_tenant_id and v.id = v_old_id;
  update memory.embedding_versions as v set status = 'active'
  where v.tenant_id = v_tenant_id and v.id = v_new_id;

  for v_type in
    select t.memory_type, t.table_name from memory.memory_types as t
    where t.is_searched
    order by t.position
  loop
    -- In the order of their ids, as everybody locks them.
    execute format(
      'select from memory.%I as m
       where m.tenant_id = $1 and exists (
         select from memory.staged_embeddings as s
         where s.tenant_id = $1 and s.embedding_version_id = $2 and s.memory_type = $3
           and s.memory_id = m.id
       )
       order by m.id
       for no key update',
      v_type.table_name
    ) using v_tenant_id, v_new_id, v_type.memory_type;
    execute format(
      'update memory.%I as m
       set embedding = s.embedding, embedding_version_id = s.embedding_version_id
       from memory.staged_embeddings as s
       where s.tenant_id = $1 and s.embedding_version_id = $2 and s.memory_type = $3
         and m.tenant_id = $1 and m.id = s.memory_id',
      v_type.table_name
    ) using v_tenant_id, v_new_id, v_type.memory_type;
  end loop;

  -- Memories that got their vector here leave the queue; the others wait for one of the new
  -- version.
  delete from memory.embedding_queue as q
  using memory.staged_embeddings as s
  where q.tenant_id = v_tenant_id and q.target = 'active'
    and s.tenant_id = v_tenant_id and s.memory_type = q.memory_type and s.memory_id = q.memory_id
    and s.embedding_version_id = v_new_id;
  delete from memory.embedding_queue as q where q.tenant_id = v_tenant_id and q.target = 'building';
  delete from memory.staged_embeddings as s where s.tenant_id = v_tenant_id;
  get diagnostics v_count = row_count;

  perform memory.write_event(
    v_tenant_id, 'reembedded', null, null,
    jsonb_build_object('from', v_old_id, 'to', v_new_id, 'memories', v_count)
  );
  return v_new_id;
end;
$$;

comment on function memory.activate_embedding_version() is
'Completes a change of embedding model in one transaction: the new vectors replace the old ones '
'and the new version becomes active. Returns its id. Errors: PM004 no change is under way or '
'memories still lack their new vector, PM002 not at READ COMMITTED.';
grant execute on function memory.activate_embedding_version to memory_admin;

commit;
