-- Deploy pymem:functions/core/store/store_episodes to pg

begin;

set local role memory_owner;

create or replace function memory.store_episode(
  content text,
  butler text,
  session_id uuid default null,
  importance float8 default 5.0,
  metadata jsonb default '{}',
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
  created_at timestamptz default null,
  source_class text default 'agent',
  as_of timestamptz default now()
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
  v_butler text := memory.collapse_whitespace(store_episode.butler);
  v_created_at timestamptz := coalesce(store_episode.created_at, store_episode.as_of);
  v_version_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('content', store_episode.content, 1048576),
    memory.check_scope('butler', v_butler),
    memory.check_number('importance', store_episode.importance, 0, 10),
    memory.check_metadata(store_episode.metadata),
    memory.check_word('source_class', store_episode.source_class, memory.source_classes()),
    memory.check_idempotency_key(store_episode.idempotency_key),
    memory.check_write_time('as_of', as_of),
    memory.check_write_time('created_at', v_created_at);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_episode.embedding, store_episode.embedding_version_id
  );

  insert into memory.episodes (
    tenant_id, butler, session_id, content, source_class, importance, metadata, embedding,
    embedding_version_id, text_search_config, index_rendering, idempotency_key, created_at,
    expires_at
  )
  values (
    v_tenant_id, v_butler, store_episode.session_id, store_episode.content,
    store_episode.source_class, store_episode.importance, store_episode.metadata,
    store_episode.embedding, v_version_id, v_settings.text_search_config,
    v_settings.index_rendering, store_episode.idempotency_key, v_created_at,
    as_of + make_interval(secs => v_settings.episode_ttl_days * 86400)
  )
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
  returning id into v_id;
  if v_id is not null then
    return v_id;
  end if;

  select e.id into v_id
  from memory.episodes as e
  where e.tenant_id = v_tenant_id
    and e.idempotency_key = store_episode.idempotency_key
    and e.butler = v_butler
    and e.content = store_episode.content;
  if not found then
    perform memory.refuse_reused_key(store_episode.idempotency_key);
  end if;
  return v_id;
end;
$$;

comment on function memory.store_episode(
  text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, text, timestamptz
) is
'Stores an observation of an agent (butler) and returns its id. source_class says whose statement '
'it is: user, agent, tool or external. It happened at created_at (default as_of), is searchable '
'for episode_ttl_days from as_of, and waits for consolidation. Without an embedding it is found by '
'keyword at once, and by meaning once the embedding worker has embedded it. Storing again with the '
'same idempotency_key returns the first id. Errors: PM002 invalid argument, PM004 key used for '
'another episode.';
grant execute on function memory.store_episode to memory_writer;

create or replace function memory.read_episodes(
  episodes jsonb,
  as_of timestamptz
)
  returns table (
    ordinal bigint,
    content text,
    butler text,
    session_id uuid,
    importance float8,
    metadata jsonb,
    idempotency_key text,
    created_at timestamptz,
    source_class text
  )
  language sql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    a.ordinal,
    e.content,
    memory.collapse_whitespace(e.butler),
    e.session_id,
    coalesce(e.importance, 5.0),
    coalesce(e.metadata, '{}'),
    e.idempotency_key,
    coalesce(e.created_at, as_of),
    coalesce(e.source_class, 'agent')
  from jsonb_array_elements(episodes) with ordinality as a (episode, ordinal)
  cross join lateral jsonb_to_record(a.episode) as e (
    content text,
    butler text,
    session_id uuid,
    importance float8,
    metadata jsonb,
    idempotency_key text,
    created_at timestamptz,
    source_class text
  );
$$;

comment on function memory.read_episodes(jsonb, timestamptz) is
'The elements of the store_episodes argument as rows, numbered from 1, with defaults filled in.';

create or replace function memory.store_episodes(
  episodes jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    id uuid,
    created boolean
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_ids uuid[];
  v_reused text;
begin
  perform memory.check_write_time('as_of', as_of);
  perform memory.check_elements(
    'episode', episodes,
    '{
      "content": "string", "butler": "string", "session_id": "uuid", "importance": "number",
      "metadata": "object", "idempotency_key": "string", "created_at": "time",
      "source_class": "string"
    }'
  );
  perform
    memory.check_text('content of episode ' || e.ordinal, e.content, 1048576),
    memory.check_scope('butler of episode ' || e.ordinal, e.butler),
    memory.check_number('importance of episode ' || e.ordinal, e.importance, 0, 10),
    memory.check_metadata(e.metadata, whose => ' of episode ' || e.ordinal),
    memory.check_idempotency_key(e.idempotency_key, ' of episode ' || e.ordinal),
    memory.check_word('source_class of episode ' || e.ordinal, e.source_class, memory.source_classes()),
    memory.check_write_time('created_at of episode ' || e.ordinal, e.created_at)
  from memory.read_episodes(episodes, as_of) as e;

  -- Ascending ids, so that turns of a session at the same time keep their order.
  v_ids := array(select gen_random_uuid() as id from jsonb_array_elements(episodes) order by id);
  -- Inserted in key order, so that two batches with common keys cannot deadlock.
  insert into memory.episodes (
    tenant_id, id, butler, session_id, content, source_class, importance, metadata,
    text_search_config, index_rendering, idempotency_key, created_at, expires_at
  )
  select
    v_tenant_id, v_ids[e.ordinal], e.butler, e.session_id, e.content, e.source_class, e.importance, e.metadata,
    v_settings.text_search_config, v_settings.index_rendering, e.idempotency_key, e.created_at,
    as_of + make_interval(secs => v_settings.episode_ttl_days * 86400)
  from memory.read_episodes(episodes, as_of) as e
  order by e.idempotency_key, e.ordinal
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing;

  select e.idempotency_key into v_reused
  from memory.read_episodes(episodes, as_of) as e
  join memory.episodes as k
    on k.tenant_id = v_tenant_id and k.idempotency_key = e.idempotency_key
  where (k.butler, k.content) is distinct from (e.butler, e.content)
  order by e.ordinal
  limit 1;
  if found then
    perform memory.refuse_reused_key(v_reused);
  end if;

  return query
  select e.ordinal, coalesce(n.id, k.id), n.id is not null
  from memory.read_episodes(episodes, as_of) as e
  left join memory.episodes as n
    on n.tenant_id = v_tenant_id and n.id = v_ids[e.ordinal]
  left join memory.episodes as k
    on k.tenant_id = v_tenant_id and k.idempotency_key = e.idempotency_key
  order by e.ordinal;
end;
$$;

comment on function memory.store_episodes(jsonb, timestamptz) is
'Stores many episodes, all or none: an array of objects with content, butler and, optionally, '
'session_id, importance, metadata, idempotency_key, created_at and source_class. Returns for each, '
'in order, its id and whether it is new; an episode with a known idempotency_key keeps its first '
'id. The embedding worker adds their vectors. Errors: PM002 invalid argument (the message says '
'which episode), PM004 key used for another episode.';
grant execute on function memory.store_episodes to memory_writer;

commit;
