-- Deploy pymem:functions/core/embedding/embedding to pg

begin;

set local role memory_owner;

create or replace function memory.check_dimensions(
  dimensions integer,
  whose text default ''
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if dimensions is distinct from 384 then
    raise exception 'vectors of % dimensions% do not fit', coalesce(dimensions::text, 'NULL'), whose
      using errcode = 'PM002',
        hint = 'Memories have vectors of 384 dimensions: take a model that gives them, or the first '
          '384 numbers of one that is made for that (docs/operations.md).';
  end if;
end;
$$;

comment on function memory.check_dimensions(integer, text) is
'Rejects a vector length other than that of the embedding columns; whose as in check_tags. Errors: '
'PM002.';

create or replace function memory.refuse_embedding(
  embedding vector,
  whose text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if vector_dims(embedding) is distinct from 384 then
    perform memory.check_dimensions(vector_dims(embedding), whose);
  end if;
  -- A zero or huge vector has no cosine: the result is NaN, which would top every ranking.
  raise exception 'the norm of the embedding% is %', whose, vector_norm(embedding)
    using errcode = 'PM002',
      hint = 'Pass the vector of a text; its norm must be between 1e-6 and 1e6.';
end;
$$;

comment on function memory.refuse_embedding(vector, text) is
'Raises the error for an argument that fails check_embedding. Errors: PM002.';

create or replace function memory.check_embedding(
  embedding vector,
  whose text default ''
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when public.vector_dims(embedding) = 384
      and public.vector_norm(embedding) between 1e-6 and 1e6
    then null
    else memory.refuse_embedding(embedding, whose)
  end;

comment on function memory.check_embedding(vector, text) is
'Rejects a vector of the wrong length or without a direction; whose as in check_tags. Errors: '
'PM002.';

create or replace function memory.active_embedding_version()
  returns table (
    id uuid,
    model text,
    version text,
    dimensions integer,
    rendering text,
    status text,
    similarity_floor float8,
    similarity_ceiling float8
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select
    v.id, v.model, v.version, v.dimensions, v.rendering, v.status, v.similarity_floor,
    v.similarity_ceiling
  from memory.embedding_versions as v
  where v.tenant_id = memory.current_tenant() and v.status = 'active';
end;
$$;

comment on function memory.active_embedding_version() is
'The version whose vectors are searched, and the scale of its similarities (memory.meaning_score); '
'no row before a version is registered.';
grant execute on function memory.active_embedding_version
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.current_embedding_versions()
  returns table (
    id uuid,
    model text,
    version text,
    dimensions integer,
    rendering text,
    status text,
    similarity_floor float8,
    similarity_ceiling float8
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query
  select
    v.id, v.model, v.version, v.dimensions, v.rendering, v.status, v.similarity_floor,
    v.similarity_ceiling
  from memory.embedding_versions as v
  where v.tenant_id = memory.current_tenant() and v.status in ('active', 'building')
  order by v.status;
end;
$$;

comment on function memory.current_embedding_versions() is
'The versions for which vectors are made, with the columns of memory.active_embedding_version: the '
'active one, then the one being built, if they exist.';
grant execute on function memory.current_embedding_versions
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.check_embedding_version(embedding_version_id uuid)
  returns uuid
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_active record;
begin
  select v.* into v_active from memory.active_embedding_version() as v;
  if not found then
    raise exception 'no embedding model is registered'
      using errcode = 'PM004',
        hint = 'Call memory.register_embedding_version(model, version) first.';
  end if;
  if embedding_version_id <> v_active.id then
    raise exception 'the embedding is not from the active version, model % version %',
      v_active.model, v_active.version
      using errcode = 'PM004',
        hint = 'Embed with that model, or omit the embedding: the embedding worker adds it.';
  end if;
  return v_active.id;
end;
$$;

comment on function memory.check_embedding_version(uuid) is
'Returns the id of the active embedding version and rejects a given id (NULL: not checked) that '
'differs. Errors: PM004 another version is active or none is registered.';

create or replace function memory.lock_embedding_versions(
  tenant_id text,
  statuses text[] default '{building}'
)
  returns void
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform from memory.embedding_versions as v
  where v.tenant_id = lock_embedding_versions.tenant_id and v.status = any (statuses)
  order by v.id
  for key share;
end;
$$;

comment on function memory.lock_embedding_versions(text, text[]) is
'Lets the end of a change of the embedding model wait for this transaction. Whoever stores, '
'rewrites or deletes memories calls it before locking any: a switch locks the versions first and '
'the memories afterwards, too.';

create or replace function memory.lock_embedding_version(
  tenant_id text,
  embedding vector,
  embedding_version_id uuid
)
  returns uuid
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_active_id uuid;
begin
  if embedding is null then
    perform memory.lock_embedding_versions(tenant_id);
    return null;
  end if;
  perform memory.check_embedding(embedding);
  perform memory.lock_embedding_versions(tenant_id, '{active,building}');
  -- Waits for a running switch, then finds no row, because the status of this version has changed;
  -- the second attempt sees the new version.
  for i in 1 .. 2 loop
    select v.id into v_active_id
    from memory.embedding_versions as v
    where v.tenant_id = lock_embedding_version.tenant_id and v.status = 'active'
    for key share;
    exit when found;
  end loop;
  if v_active_id is null or v_active_id <> embedding_version_id then
    perform memory.check_embedding_version(embedding_version_id);
  end if;
  return v_active_id;
end;
$$;

comment on function memory.lock_embedding_version(text, vector, uuid) is
'The version of a vector that is about to be stored: the active one, which stays active until the '
'end of the transaction; NULL for no vector. Errors: PM002 malformed vector, PM004 vector of '
'another version.';

create or replace function memory.check_similarity_scale(
  similarity_floor float8,
  similarity_ceiling float8
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_number('similarity_floor', coalesce(similarity_floor, 0), -1, 1);
  perform memory.check_number('similarity_ceiling', coalesce(similarity_ceiling, 0), -1, 1);
  if coalesce(similarity_ceiling, 0.75) < coalesce(similarity_floor, 0.05) + 0.01 then
    raise exception 'a similarity scale from % to % is invalid',
      coalesce(similarity_floor, 0.05), coalesce(similarity_ceiling, 0.75)
      using errcode = 'PM002',
        hint = 'Pass a similarity_ceiling at least 0.01 above similarity_floor.';
  end if;
end;
$$;

comment on function memory.check_similarity_scale(float8, float8) is
'Rejects a scale of similarities whose ends are not at least 0.01 apart; NULL means the default. '
'Errors: PM002.';

create or replace function memory.register_embedding_version(
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
  v_id uuid;
  v_active record;
begin
  perform memory.check_model('model', model, 256);
  perform memory.check_model('version', version, 128);
  perform memory.check_dimensions(dimensions);
  perform memory.check_similarity_scale(similarity_floor, similarity_ceiling);

  select v.id into v_id
  from memory.current_embedding_versions() as v
  where v.model = register_embedding_version.model
    and v.version = register_embedding_version.version
  order by v.status
  limit 1;
  if found then
    return v_id;
  end if;

  if not exists (
    select from memory.embedding_versions as v
    where v.tenant_id = v_tenant_id and v.status = 'active'
  ) then
    update memory.embedding_versions as v set status = 'active'
    where v.tenant_id = v_tenant_id
      and v.model = register_embedding_version.model
      and v.version = register_embedding_version.version
      and v.rendering = v_settings.embedding_rendering
    returning v.id into v_id;
    if found then
      return v_id;
    end if;
    -- The loser of a race finds the winner's row below.
    insert into memory.embedding_versions
      (
        tenant_id, model, version, rendering, dimensions, similarity_floor, similarity_ceiling,
        status
      )
    values (
      v_tenant_id, register_embedding_version.model, register_embedding_version.version,
      v_settings.embedding_rendering, register_embedding_version.dimensions,
      coalesce(register_embedding_version.similarity_floor, 0.05),
      coalesce(register_embedding_version.similarity_ceiling, 0.75), 'active'
    )
    on conflict do nothing;
  end if;

  select v.id into v_id
  from memory.current_embedding_versions() as v
  where v.model = register_embedding_version.model
    and v.version = register_embedding_version.version
  order by v.status
  limit 1;
  if not found then
    select v.* into v_active from memory.active_embedding_version() as v;
    raise exception 'the stored vectors are from model % version %, not from % version %',
      v_active.model, v_active.version,
      register_embedding_version.model, register_embedding_version.version
      using errcode = 'PM004',
        hint = 'Embed with that model, or change the model with pymem reembed or '
          'memory.start_reembedding.';
  end if;
  return v_id;
end;
$$;

comment on function memory.register_embedding_version(text, text, integer, float8, float8) is
'Returns the id of the version of an embedding model, active or being built; the first one that a '
'tenant registers becomes active, with the rendering of the settings. similarity_floor, '
'similarity_ceiling: the scale of its cosine similarities (memory.meaning_score; NULL: that of '
'all-MiniLM-L6-v2), for a new version only. Errors: PM004 another model is active, PM002 '
'dimensions other than 384 or an invalid scale.';
grant execute on function memory.register_embedding_version
to memory_writer, memory_worker, memory_admin;

create or replace function memory.render_for_embedding(
  tenant_id text,
  rendering text,
  memory_type text,
  content text,
  subject text,
  predicate text,
  butler text,
  session_id uuid,
  created_at timestamptz,
  id uuid
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.render_memory(
    memory_type, content, subject, predicate,
    happened_at => case when rendering in ('dated', 'previous_dated') then created_at end,
    previous => case when rendering in ('previous', 'previous_dated') then (
      select e.content
      from memory.episodes as e
      where e.tenant_id = render_for_embedding.tenant_id
        and e.session_id = render_for_embedding.session_id
        and e.butler = render_for_embedding.butler
        and (e.created_at, e.id) < (
          render_for_embedding.created_at,
          coalesce(render_for_embedding.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
        )
      order by e.created_at desc, e.id desc
      limit 1
    ) end
  );
$$;

comment on function memory.render_for_embedding(
  text, text, text, text, text, text, text, uuid, timestamptz, uuid
) is
'The text of a memory to embed under a rendering. id: NULL if it is not stored yet.';

create or replace function memory.embedding_text(
  memory_type text,
  content text,
  subject text default null,
  predicate text default null,
  butler text default null,
  session_id uuid default null,
  created_at timestamptz default null,
  as_of timestamptz default now()
)
  returns text
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_settings memory.settings := memory.current_settings();
begin
  perform memory.check_word('memory_type', memory_type, memory.memory_type_names());
  return memory.render_for_embedding(
    v_settings.tenant_id,
    coalesce(
      (select v.rendering from memory.active_embedding_version() as v),
      v_settings.embedding_rendering
    ),
    memory_type, content, subject, predicate, memory.collapse_whitespace(butler), session_id,
    coalesce(created_at, as_of), null
  );
end;
$$;

comment on function memory.embedding_text(
  text, text, text, text, text, uuid, timestamptz, timestamptz
) is
'The text to embed for a memory that is about to be stored, by the rendering of the active '
'embedding version; for an episode usually the content, the day and the end of the previous turn '
'of its session. Errors: PM002.';
grant execute on function memory.embedding_text to memory_writer, memory_worker, memory_admin;

-- Rows that the transaction has locked stay where they are, so they are found by their places.
-- While the planner takes the queue for short, it would rather read all of the tenant's.
create or replace function memory.lease_jobs(
  places tid[],
  claimed_until timestamptz
)
  returns table (
    memory_type text,
    memory_id uuid,
    attempts integer,
    enqueued_at timestamptz
  )
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_indexscan = off
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
  update memory.embedding_queue as q
  set claimed_until = lease_jobs.claimed_until, attempts = q.attempts + 1
  where q.ctid = any (places)
  returning q.memory_type, q.memory_id, q.attempts, q.enqueued_at;
$$;

comment on function memory.lease_jobs(tid[], timestamptz) is
'Claims the locked rows of the embedding queue at some places until then.';

create or replace function memory.drop_jobs(places tid[])
  returns bigint
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_indexscan = off
  set enable_bitmapscan = off
  set enable_seqscan = off
as $$
  with dropped as (
    delete from memory.embedding_queue as q where q.ctid = any (places) returning q.memory_id
  )
  select count(*) from dropped as d;
$$;

comment on function memory.drop_jobs(tid[]) is
'Takes the locked rows at some places off the embedding queue; returns how many there were.';

create or replace function memory.drop_gone_jobs(
  tenant_id text,
  target text,
  batch_size integer,
  as_of timestamptz
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_sort = off -- an index has the order, also for a plan made while the queue is short
as $$
#variable_conflict use_column
declare
  v_places tid[];
begin
  with free as (
    select q.ctid as place, q.memory_type, q.memory_id
    from memory.embedding_queue as q
    where q.tenant_id = drop_gone_jobs.tenant_id
      and q.target = drop_gone_jobs.target
      and (q.claimed_until is null or q.claimed_until <= as_of)
    order by q.attempts, q.enqueued_at, q.memory_type, q.memory_id
    limit drop_gone_jobs.batch_size
    for update skip locked
  )
  select array_agg(f.place) into v_places
  from free as f
  where not exists (
    select from memory.searchable_memories as m
    where m.tenant_id = drop_gone_jobs.tenant_id
      and m.memory_type = f.memory_type
      and m.id = f.memory_id
    offset 0 -- keeps this a look-up of one memory
  );
  return case when v_places is null then 0 else memory.drop_jobs(v_places) end;
end;
$$;

comment on function memory.drop_gone_jobs(text, text, integer, timestamptz) is
'Takes the deleted memories among the next batch_size of a queue off it; returns how many there '
'were. A memory that was deleted while it was being queued leaves such a row.';

create or replace function memory.claim_embedding_jobs(
  embedding_version_id uuid default null,
  batch_size integer default 32,
  lease interval default '5 minutes',
  as_of timestamptz default now()
)
  returns table (
    memory_type text,
    memory_id uuid,
    content text
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_sort = off -- an index has the order, also for a plan made while the queue is short
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_target text := 'active';
  v_rendering text;
  v_places tid[];
begin
  perform memory.check_number('batch_size', batch_size, 1, 10000);
  perform memory.check_write_time('as_of', as_of);
  if lease is null or lease <= interval '0' or lease > interval '1 day' then
    raise exception 'lease is %', coalesce(lease::text, 'NULL')
      using errcode = 'PM002', hint = 'Pass a lease of more than zero and at most one day.';
  end if;
  if embedding_version_id is not null then
    v_target := memory.embedding_version_status(embedding_version_id);
  end if;
  v_rendering := coalesce(
    (select v.rendering from memory.current_embedding_versions() as v where v.status = v_target),
    v_settings.embedding_rendering
  );

  while memory.drop_gone_jobs(v_tenant_id, v_target, batch_size, as_of) > 0 loop
    null;
  end loop;

  with free as (
    select q.ctid as place
    from memory.embedding_queue as q
    where q.tenant_id = v_tenant_id
      and q.target = v_target
      and (q.claimed_until is null or q.claimed_until <= as_of)
    order by q.attempts, q.enqueued_at, q.memory_type, q.memory_id
    limit claim_embedding_jobs.batch_size
    for update skip locked
  )
  select array_agg(f.place) into v_places from free as f;

  return query
  select
    c.memory_type,
    c.memory_id,
    memory.render_for_embedding(
      v_tenant_id, v_rendering, c.memory_type, m.content, m.subject, m.predicate,
      case c.memory_type when 'episode' then m.scope end, m.session_id,
      case c.memory_type when 'episode' then m.created_at end,
      case c.memory_type when 'episode' then m.id end
    )
  from memory.lease_jobs(v_places, as_of + lease) as c
  cross join lateral (
    select s.*
    from memory.searchable_memories as s
    where s.tenant_id = v_tenant_id and s.memory_type = c.memory_type and s.id = c.memory_id
    offset 0 -- keeps this a look-up of one memory
  ) as m
  order by c.attempts, c.enqueued_at, c.memory_type, c.memory_id;
end;
$$;

comment on function memory.claim_embedding_jobs(uuid, integer, interval, timestamptz) is
'Claims memories that lack a vector of a version (default: the active one) and returns the text to '
'embed. They belong to this worker until the lease ends; those with the fewest attempts come '
'first. What has been deleted meanwhile is dropped. Errors: PM001 unknown version, PM002, PM004 a '
'retired version.';
grant execute on function memory.claim_embedding_jobs to memory_worker;

create or replace function memory.embedding_version_status(embedding_version_id uuid)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_status text;
begin
  -- The lock prevents a switch of the version while its vector is written.
  select v.status into v_status
  from memory.embedding_versions as v
  where v.tenant_id = memory.current_tenant() and v.id = embedding_version_id
  for key share;
  if not found then
    raise exception 'no embedding version has id %', embedding_version_id
      using errcode = 'PM001',
        hint = 'Call memory.register_embedding_version(model, version) for the id.';
  end if;
  if v_status = 'retired' then
    raise exception 'embedding version % is retired', embedding_version_id
      using errcode = 'PM004', hint = 'Embed with the model of memory.active_embedding_version().';
  end if;
  return v_status;
end;
$$;

comment on function memory.embedding_version_status(uuid) is
'active or building; the version is locked until the end of the transaction. Errors: PM001 '
'unknown, PM004 retired.';

create or replace function memory.set_embedding(
  memory_type text,
  memory_id uuid,
  embedding vector,
  embedding_version_id uuid default null,
  text_md5 text default null
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_version_id uuid := coalesce(
    set_embedding.embedding_version_id, memory.check_embedding_version(null)
  );
  v_status text := memory.embedding_version_status(v_version_id);
  v_found boolean;
begin
  perform memory.check_word('memory_type', memory_type, memory.memory_type_names());
  if embedding is null then
    raise exception 'embedding is NULL'
      using errcode = 'PM002', hint = 'Pass the vector of the text that claim_embedding_jobs returned.';
  end if;
  perform memory.check_embedding(embedding);

  -- The lock prevents concurrent changes of the text and the vector.
  if memory_type = 'rule' and text_md5 is not null then
    perform from memory.rules as r
    where r.tenant_id = v_tenant_id and r.id = memory_id
      and md5(memory.render_memory('rule', r.content)) = text_md5
    for no key update;
    if not found then
      return false;
    end if;
  elsif memory_type = 'entry' and text_md5 is not null then
    perform from memory.entries as y
    where y.tenant_id = v_tenant_id and y.id = memory_id
      and md5(memory.render_memory('entry', y.content)) = text_md5
    for no key update;
    if not found then
      return false;
    end if;
  end if;

  if v_status = 'building' then
    v_found := memory.memory_exists(v_tenant_id, memory_type, memory_id);
    if v_found then
      insert into memory.staged_embeddings
        (tenant_id, memory_type, memory_id, embedding_version_id, embedding)
      values (
        v_tenant_id, set_embedding.memory_type, set_embedding.memory_id, v_version_id,
        set_embedding.embedding
      )
      on conflict (tenant_id, memory_type, memory_id)
      do update set
        embedding = excluded.embedding,
        embedding_version_id = excluded.embedding_version_id;
    end if;
  else
    execute format(
      'update memory.%I as m set embedding = $1, embedding_version_id = $2
       where m.tenant_id = $3 and m.id = $4
       returning true',
      memory.table_of(memory_type)
    ) into v_found using embedding, v_version_id, v_tenant_id, memory_id;
    v_found := coalesce(v_found, false);
  end if;

  delete from memory.embedding_queue as q
  where q.tenant_id = v_tenant_id
    and q.target = v_status
    and q.memory_type = set_embedding.memory_type
    and q.memory_id = set_embedding.memory_id;
  return v_found;
end;
$$;

comment on function memory.set_embedding(text, uuid, vector, uuid, text) is
'Stores the vector of a memory for a version (default: the active one) and removes the memory from '
'the queue. A vector of the version being built waits beside the active one until the switch. '
'text_md5 is the MD5 of the embedded text: if the text has changed since, nothing is '
'stored and the memory stays in the queue. Returns false in that case, and if the memory no longer '
'exists. Errors: PM002 malformed vector, PM001 unknown or PM004 retired version.';
grant execute on function memory.set_embedding to memory_worker;

create or replace function memory.embedding_backlog(as_of timestamptz default now())
  returns table (
    embedding_version_id uuid,
    model text,
    version text,
    status text,
    pending bigint,
    claimed bigint,
    oldest_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  select
    v.id, v.model, v.version, t.target, count(q.memory_id),
    count(q.memory_id) filter (where q.claimed_until > as_of), min(q.enqueued_at)
  from (values ('active'), ('building')) as t (target)
  left join memory.embedding_versions as v on v.tenant_id = v_tenant_id and v.status = t.target
  left join memory.embedding_queue as q on q.tenant_id = v_tenant_id and q.target = t.target
  group by v.id, v.model, v.version, t.target
  having v.id is not null or count(q.memory_id) > 0
  order by t.target;
end;
$$;

comment on function memory.embedding_backlog(timestamptz) is
'How many memories wait for a vector, per current embedding version: pending in total, claimed by '
'a worker at as_of, and since when the oldest one waits. The version is NULL before one is '
'registered.';
grant execute on function memory.embedding_backlog
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
