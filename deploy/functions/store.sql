-- Deploy pymem:functions/store to pg
-- requires: functions/embedding
-- requires: functions/settings
-- requires: tables/audit_triggers

begin;

set local role memory_owner;

create function memory.store_episode(
  content text,
  butler text,
  session_id uuid default null,
  importance float8 default 5.0,
  metadata jsonb default '{}',
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
  created_at timestamptz default null,
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
  v_created_at timestamptz := coalesce(store_episode.created_at, store_episode.as_of);
  v_version_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('content', store_episode.content, 1048576),
    memory.check_text('butler', store_episode.butler, 128),
    memory.check_number('importance', store_episode.importance, 0, 10),
    memory.check_metadata(store_episode.metadata),
    memory.check_idempotency_key(store_episode.idempotency_key),
    memory.check_write_time('as_of', as_of),
    memory.check_write_time('created_at', v_created_at);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_episode.embedding, store_episode.embedding_version_id
  );

  insert into memory.episodes (
    tenant_id, butler, session_id, content, importance, metadata, embedding, embedding_version_id,
    text_search_config, index_rendering, idempotency_key, created_at, expires_at
  )
  values (
    v_tenant_id, memory.collapse_whitespace(store_episode.butler), store_episode.session_id,
    store_episode.content, store_episode.importance, store_episode.metadata,
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
    and e.butler = memory.collapse_whitespace(store_episode.butler)
    and e.content = store_episode.content;
  if not found then
    perform memory.refuse_reused_key(store_episode.idempotency_key);
  end if;
  return v_id;
end;
$$;

comment on function memory.store_episode(
  text, text, uuid, float8, jsonb, vector, uuid, text, timestamptz, timestamptz
) is
'Stores an observation of an agent (butler) and returns its id. It happened at created_at '
'(default as_of), is found for episode_ttl_days from as_of, and waits for consolidation. Without '
'an embedding it is found by keyword at once and by meaning after the embedding worker has come '
'by. The same idempotency_key again returns the first id. Errors: PM002 invalid argument, PM004 '
'key used for another episode.';

create function memory.read_episodes(
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
    created_at timestamptz
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
    coalesce(e.created_at, as_of)
  from jsonb_array_elements(episodes) with ordinality as a (episode, ordinal)
  cross join lateral jsonb_to_record(
    case jsonb_typeof(a.episode) when 'object' then a.episode else '{}' end
  ) as e (
    content text,
    butler text,
    session_id uuid,
    importance float8,
    metadata jsonb,
    idempotency_key text,
    created_at timestamptz
  );
$$;

comment on function memory.read_episodes(jsonb, timestamptz) is
'The elements of the argument of store_episodes as rows, numbered from 1, with the defaults '
'filled in.';

create function memory.store_episodes(
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
  if jsonb_typeof(episodes) is distinct from 'array' then
    raise exception 'episodes are not a JSON array'
      using errcode = 'PM002',
        hint = 'Pass an array of objects such as {"butler": "home", "content": "..."}.';
  end if;
  perform
    memory.check_text('content of episode ' || e.ordinal, e.content, 1048576),
    memory.check_text('butler of episode ' || e.ordinal, e.butler, 128),
    memory.check_number('importance of episode ' || e.ordinal, e.importance, 0, 10),
    memory.check_metadata(e.metadata),
    memory.check_idempotency_key(e.idempotency_key),
    memory.check_write_time('created_at of episode ' || e.ordinal, e.created_at)
  from memory.read_episodes(episodes, as_of) as e;

  -- Ascending, so that turns of a session at the same time keep their order.
  v_ids := array(select gen_random_uuid() as id from jsonb_array_elements(episodes) order by id);
  -- Inserted in the order of their keys, so that two batches with common keys cannot deadlock.
  insert into memory.episodes (
    tenant_id, id, butler, session_id, content, importance, metadata, text_search_config,
    index_rendering, idempotency_key, created_at, expires_at
  )
  select
    v_tenant_id, v_ids[e.ordinal], e.butler, e.session_id, e.content, e.importance, e.metadata,
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
'Stores many episodes at once, or none: an array of objects with content, butler and, if wanted, '
'session_id, importance, metadata, idempotency_key and created_at. Returns, in their order, the '
'id of each and whether it is new; one whose idempotency_key is known keeps its first id. Their '
'vectors are the embedding worker''s work. Errors: PM002 invalid argument (the message tells '
'which), PM004 key used for another episode.';

create function memory.store_fact(
  subject text,
  predicate text,
  content text,
  importance float8 default 5.0,
  permanence text default 'standard',
  scope text default 'global',
  tags jsonb default '[]',
  entity_id uuid default null,
  confidence float8 default 1.0,
  source_butler text default null,
  source_episode_id uuid default null,
  metadata jsonb default '{}',
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
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
  v_subject text := memory.collapse_whitespace(store_fact.subject);
  v_predicate text := memory.collapse_whitespace(store_fact.predicate);
  v_scope text := memory.collapse_whitespace(store_fact.scope);
  v_version_id uuid;
  v_stored memory.facts;
  v_old_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('subject', v_subject, 512),
    memory.check_text('predicate', v_predicate, 512),
    memory.check_text('content', store_fact.content, 1048576),
    memory.check_text('scope', v_scope, 128),
    memory.check_number('importance', store_fact.importance, 0, 10),
    memory.check_number('confidence', store_fact.confidence, 0, 1),
    memory.check_word(
      'permanence', store_fact.permanence, '{permanent,stable,standard,volatile,ephemeral}'
    ),
    memory.check_tags(store_fact.tags),
    memory.check_metadata(store_fact.metadata, '{status}'),
    memory.check_source(v_tenant_id, store_fact.source_butler, store_fact.source_episode_id),
    memory.check_idempotency_key(store_fact.idempotency_key),
    memory.check_write_time('as_of', as_of);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_fact.embedding, store_fact.embedding_version_id
  );
  perform memory.lock_entity(v_tenant_id, store_fact.entity_id);

  -- One store of a key at a time: the next one waits here, and then sees this one's fact.
  insert into memory.fact_keys as k (tenant_id, scope, anchor, predicate)
  values (
    v_tenant_id, v_scope, coalesce('entity:' || store_fact.entity_id, 'subject:' || v_subject),
    v_predicate
  )
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;

  if store_fact.idempotency_key is not null then
    select f.* into v_stored
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.idempotency_key = store_fact.idempotency_key;
    if found then
      if (v_stored.scope, v_stored.subject, v_stored.predicate) <> (v_scope, v_subject, v_predicate)
        or v_stored.content <> store_fact.content
        or v_stored.entity_id is distinct from store_fact.entity_id
      then
        perform memory.refuse_reused_key(store_fact.idempotency_key);
      end if;
      return v_stored.id;
    end if;
  end if;

  if store_fact.entity_id is null then
    update memory.facts as f
    set validity = 'superseded', metadata = f.metadata - 'status'
    where f.tenant_id = v_tenant_id and f.scope = v_scope and f.subject = v_subject
      and f.predicate = v_predicate and f.entity_id is null and f.validity = 'active'
    returning f.id into v_old_id;
  else
    update memory.facts as f
    set validity = 'superseded', metadata = f.metadata - 'status'
    where f.tenant_id = v_tenant_id and f.entity_id = store_fact.entity_id and f.scope = v_scope
      and f.predicate = v_predicate and f.validity = 'active'
    returning f.id into v_old_id;
  end if;

  insert into memory.facts (
    tenant_id, subject, predicate, content, importance, permanence, decay_rate, scope, tags,
    entity_id, confidence, source_butler, source_episode_id, supersedes_id, metadata, embedding,
    embedding_version_id, text_search_config, idempotency_key, created_at, last_confirmed_at
  )
  values (
    v_tenant_id, v_subject, v_predicate, store_fact.content, store_fact.importance,
    store_fact.permanence, memory.decay_rate_of(store_fact.permanence), v_scope, store_fact.tags,
    store_fact.entity_id, store_fact.confidence, store_fact.source_butler,
    store_fact.source_episode_id, v_old_id, store_fact.metadata, store_fact.embedding,
    v_version_id, v_settings.text_search_config, store_fact.idempotency_key, as_of, as_of
  )
  returning id into v_id;

  insert into memory.memory_links

    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'fact', v_id, l.target_type, l.target_id, l.relation
  from (values
    ('fact', v_old_id, 'supersedes'),
    ('episode', store_fact.source_episode_id, 'derived_from')
  ) as l (target_type, target_id, relation)
  where l.target_id is not null;

  return v_id;
end;
$$;

comment on function memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid, text,
  timestamptz
) is
'Stores what is known and returns its id. An active fact of the same key, (scope, subject, '
'predicate) or (entity_id, scope, predicate), is superseded in the same transaction, and linked. '
'permanence sets how fast it decays: permanent, stable, standard, volatile, ephemeral. The same '
'idempotency_key again returns the first id. Concurrent stores of one key wait for each other. '
'Errors: PM002 invalid argument, PM001 unknown entity or source episode, PM003 entity merged '
'away, PM004 key used for another fact.';

create function memory.store_rule(
  content text,
  scope text default 'global',
  tags jsonb default '[]',
  confidence float8 default 0.5,
  importance float8 default 5.0,
  source_butler text default null,
  source_episode_id uuid default null,
  metadata jsonb default '{}',
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
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
  v_scope text := memory.collapse_whitespace(store_rule.scope);
  v_version_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('content', store_rule.content, 1048576),
    memory.check_text('scope', v_scope, 128),
    memory.check_number('confidence', store_rule.confidence, 0, 1),
    memory.check_number('importance', store_rule.importance, 0, 10),
    memory.check_tags(store_rule.tags),
    memory.check_metadata(
      store_rule.metadata,
      '{status,forgotten,needs_inversion,harmful_reasons,original_content,inverted_from}'
    ),
    memory.check_source(v_tenant_id, store_rule.source_butler, store_rule.source_episode_id),
    memory.check_idempotency_key(store_rule.idempotency_key),
    memory.check_write_time('as_of', as_of);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_rule.embedding, store_rule.embedding_version_id
  );

  insert into memory.rules (
    tenant_id, content, scope, tags, confidence, importance, decay_rate, source_butler,
    source_episode_id, metadata, embedding, embedding_version_id, text_search_config,
    idempotency_key, created_at, last_confirmed_at
  )
  values (
    v_tenant_id, store_rule.content, v_scope, store_rule.tags, store_rule.confidence,
    store_rule.importance, 0.01, store_rule.source_butler, store_rule.source_episode_id,
    store_rule.metadata, store_rule.embedding, v_version_id, v_settings.text_search_config,
    store_rule.idempotency_key, as_of, as_of
  )
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
  returning id into v_id;

  if v_id is null then
    select r.id into v_id
    from memory.rules as r
    where r.tenant_id = v_tenant_id
      and r.idempotency_key = store_rule.idempotency_key
      and r.scope = v_scope
      and coalesce(r.metadata ->> 'original_content', r.content) = store_rule.content;
    if not found then
      perform memory.refuse_reused_key(store_rule.idempotency_key);
    end if;
    return v_id;
  end if;

  if store_rule.source_episode_id is not null then
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    values (v_tenant_id, 'rule', v_id, 'episode', store_rule.source_episode_id, 'derived_from');
  end if;
  return v_id;
end;
$$;

comment on function memory.store_rule(
  text, text, jsonb, float8, float8, text, uuid, jsonb, vector, uuid, text, timestamptz
) is
'Stores guidance and returns its id. A rule starts as a candidate with confidence 0.5 and decay '
'0.01 a day. The same idempotency_key again returns the first id. Errors: PM002 invalid '
'argument, PM001 unknown source episode, PM004 key used for another rule.';

create function memory.check_idempotency_key(idempotency_key text)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if idempotency_key = '' or octet_length(idempotency_key) > 200 then
    raise exception 'idempotency_key is % octets long', octet_length(idempotency_key)
      using errcode = 'PM002', hint = 'Pass an idempotency_key of 1 to 200 octets, or none.';
  end if;
end;
$$;

comment on function memory.check_idempotency_key(text) is
'Refuses an empty or oversized idempotency key; NULL is fine. Errors: PM002.';

create function memory.refuse_reused_key(idempotency_key text)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'idempotency_key % was used for something else', quote_nullable(idempotency_key)
    using errcode = 'PM004', hint = 'Pass a new idempotency_key for new content.';
end;
$$;

comment on function memory.refuse_reused_key(text) is
'Raises PM004: an idempotency key came back with other content.';

create function memory.check_source(
  tenant_id text,
  source_butler text,
  source_episode_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if source_butler is not null then
    perform memory.check_text('source_butler', source_butler, 128);
  end if;
  if source_episode_id is not null
    and not memory.memory_exists(tenant_id, 'episode', source_episode_id)
  then
    raise exception 'no episode has id %', source_episode_id
      using errcode = 'PM001',
        hint = 'Leave source_episode_id out, or pass the id that store_episode returned.';
  end if;
end;
$$;

comment on function memory.check_source(text, text, uuid) is
'Refuses an empty source butler or a source episode that does not exist. Errors: PM002, PM001.';

-- The key-share lock conflicts with a merge of the entity, which locks it FOR UPDATE; the state is
-- read after the lock.
create function memory.lock_entity(
  tenant_id text,
  entity_id uuid
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_merged_into text;
begin
  if entity_id is null then
    return;
  end if;
  select e.metadata ->> 'merged_into' into v_merged_into
  from memory.entities as e
  where e.tenant_id = lock_entity.tenant_id and e.id = entity_id
  for key share;
  if not found then
    raise exception 'entity % does not exist', entity_id
      using errcode = 'PM001', hint = 'Pass the id of an existing entity, or leave entity_id out.';
  end if;
  if v_merged_into is not null then
    raise exception 'entity % was merged into %', entity_id, v_merged_into
      using errcode = 'PM003', hint = 'Use the entity it was merged into.';
  end if;
end;
$$;

comment on function memory.lock_entity(text, uuid) is
'Keeps an entity from being merged or deleted until the end of the transaction; NULL is fine. '
'Errors: PM001 unknown entity, PM003 merged away.';

commit;
