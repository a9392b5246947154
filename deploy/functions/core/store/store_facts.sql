-- Deploy pymem:functions/core/store/store_facts to pg

begin;

set local role memory_owner;

create or replace function memory.store_fact(
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
  valid_from timestamptz default null,
  valid_to timestamptz default null,
  object_entity_id uuid default null,
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
  v_tenant_id text := memory.current_tenant();
  v_subject text := memory.collapse_whitespace(store_fact.subject);
  v_predicate text := memory.collapse_whitespace(store_fact.predicate);
  v_scope text := memory.collapse_whitespace(store_fact.scope);
  v_valid_from timestamptz := coalesce(store_fact.valid_from, as_of);
  v_version_id uuid;
  v_stored memory.facts;
  v_validity text := 'active';
  v_old_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('subject', v_subject, 512),
    memory.check_text('predicate', v_predicate, 512),
    memory.check_text('content', store_fact.content, 1048576),
    memory.check_scope('scope', v_scope),
    memory.check_number('importance', store_fact.importance, 0, 10),
    memory.check_number('confidence', store_fact.confidence, 0, 1),
    memory.check_word(
      'permanence', store_fact.permanence, '{permanent,stable,standard,volatile,ephemeral}'
    ),
    memory.check_tags(store_fact.tags),
    memory.check_metadata(store_fact.metadata, '{status}'),
    memory.check_idempotency_key(store_fact.idempotency_key),
    memory.check_write_time('as_of', as_of),
    memory.check_interval(v_valid_from, store_fact.valid_to);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_fact.embedding, store_fact.embedding_version_id
  );
  if store_fact.entity_id is not null or store_fact.object_entity_id is not null then
    perform memory.lock_entities(
      v_tenant_id, array[store_fact.entity_id, store_fact.object_entity_id]
    );
  end if;

  -- One store per key at a time: the no-op update locks the row, so the next store waits here and
  -- then sees this fact.
  insert into memory.fact_keys as k (tenant_id, scope, anchor, predicate)
  values (
    v_tenant_id, v_scope, coalesce('entity:' || store_fact.entity_id, 'subject:' || v_subject),
    v_predicate
  )
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;
  if store_fact.source_butler is not null or store_fact.source_episode_id is not null then
    perform memory.check_source(
      v_tenant_id, store_fact.source_butler, store_fact.source_episode_id
    );
  end if;

  if store_fact.idempotency_key is not null then
    select f.* into v_stored
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.idempotency_key = store_fact.idempotency_key;
    if found then
      if (v_stored.scope, v_stored.subject, v_stored.predicate) <> (v_scope, v_subject, v_predicate)
        or v_stored.content <> store_fact.content
        or (v_stored.entity_id, v_stored.object_entity_id)
          is distinct from (store_fact.entity_id, store_fact.object_entity_id)
      then
        perform memory.refuse_reused_key(store_fact.idempotency_key);
      end if;
      return v_stored.id;
    end if;
  end if;

  -- A fact whose validity has already ended supersedes nothing.
  if store_fact.valid_to <= as_of then
    v_validity := 'superseded';
  elsif store_fact.entity_id is null then
    select f.id into v_old_id
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.scope = v_scope and f.subject = v_subject
      and f.predicate = v_predicate and f.entity_id is null and f.validity = 'active'
    for no key update;
  else
    select f.id into v_old_id
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.entity_id = store_fact.entity_id and f.scope = v_scope
      and f.predicate = v_predicate and f.validity = 'active'
    for no key update;
  end if;
  if v_old_id is not null then
    update memory.facts as f
    set
      validity = 'superseded',
      metadata = f.metadata - 'status',
      valid_to = least(f.valid_to, greatest(f.valid_from, v_valid_from)),
      updated_at = memory.next_state_at(f.updated_at, as_of)
    where f.tenant_id = v_tenant_id and f.id = v_old_id;
  end if;

  insert into memory.facts (
    tenant_id, subject, predicate, content, importance, permanence, decay_rate, scope, tags,
    entity_id, object_entity_id, confidence, source_butler, source_episode_id, supersedes_id,
    validity, metadata, embedding, embedding_version_id, text_search_config, idempotency_key,
    created_at, last_confirmed_at, valid_from, valid_to
  )
  values (
    v_tenant_id, v_subject, v_predicate, store_fact.content, store_fact.importance,
    store_fact.permanence, memory.decay_rate_of(store_fact.permanence), v_scope, store_fact.tags,
    store_fact.entity_id, store_fact.object_entity_id, store_fact.confidence,
    store_fact.source_butler, store_fact.source_episode_id, v_old_id, v_validity,
    store_fact.metadata, store_fact.embedding, v_version_id,
    memory.text_search_config_of(v_tenant_id), store_fact.idempotency_key, as_of, as_of,
    v_valid_from, store_fact.valid_to
  )
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
  returning id into v_id;
  if v_id is null then
    perform memory.refuse_reused_key(store_fact.idempotency_key);
  end if;

  if v_old_id is not null or store_fact.source_episode_id is not null then
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    select v_tenant_id, 'fact', v_id, l.target_type, l.target_id, l.relation
    from (values
      ('fact', v_old_id, 'supersedes'),
      ('episode', store_fact.source_episode_id, 'derived_from')
    ) as l (target_type, target_id, relation)
    where l.target_id is not null;
  end if;

  return v_id;
end;
$$;

comment on function memory.store_fact(
  text, text, text, float8, text, text, jsonb, uuid, float8, text, uuid, jsonb, vector, uuid, text,
  timestamptz, timestamptz, uuid, timestamptz
) is
'Stores what is known and returns its id. An active fact of the same key, (scope, subject, '
'predicate) or (entity_id, scope, predicate), is superseded and linked in the same transaction. '
'permanence sets how fast it decays: permanent, stable, standard, volatile, ephemeral. Storing '
'again with the same idempotency_key returns the first id. Concurrent stores of one key wait for '
'each other. Errors: PM002 invalid argument, PM001 unknown entity or source episode, PM003 entity '
'merged away, PM004 key used for another fact.';
grant execute on function memory.store_fact to memory_writer;

create or replace function memory.read_facts(
  facts jsonb,
  as_of timestamptz
)
  returns memory.fact_to_store[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_ids uuid[];
begin
  perform memory.check_elements(
    'fact', facts,
    '{
      "subject": "string", "predicate": "string", "content": "string", "importance": "number",
      "permanence": "string", "scope": "string", "tags": "array", "entity_id": "uuid",
      "object_entity_id": "uuid",
      "confidence": "number", "source_butler": "string", "source_episode_id": "uuid",
      "metadata": "object", "embedding": "array", "idempotency_key": "string",
      "valid_from": "string", "valid_to": "string"
    }'
  );
  v_ids := array(select gen_random_uuid() as id from jsonb_array_elements(facts) order by id);
  return array(
    select row(
      v_ids[f.ordinality],
      coalesce('entity:' || f.entity_id, 'subject:' || memory.collapse_whitespace(f.subject)),
      memory.collapse_whitespace(f.subject),
      memory.collapse_whitespace(f.predicate),
      f.content,
      coalesce(f.importance, 5.0),
      coalesce(f.permanence, 'standard'),
      coalesce(memory.collapse_whitespace(f.scope), 'global'),
      coalesce(f.tags, '[]'),
      f.entity_id,
      f.object_entity_id,
      coalesce(f.confidence, 1.0),
      f.source_butler,
      f.source_episode_id,
      coalesce(f.metadata, '{}'),
      f.embedding,
      f.idempotency_key,
      coalesce(f.valid_from, as_of),
      f.valid_to
    )::memory.fact_to_store
    from rows from (
      jsonb_to_recordset(facts) as (
        subject text,
        predicate text,
        content text,
        importance float8,
        permanence text,
        scope text,
        tags jsonb,
        entity_id uuid,
        object_entity_id uuid,
        confidence float8,
        source_butler text,
        source_episode_id uuid,
        metadata jsonb,
        embedding public.vector,
        idempotency_key text,
        valid_from timestamptz,
        valid_to timestamptz
      )
    ) with ordinality as f
    order by f.ordinality
  );
end;
$$;

comment on function memory.read_facts(jsonb, timestamptz) is
'The elements of the store_facts argument, with new ids in ascending order. Errors: PM002 not such '
'an array.';

create or replace function memory.check_facts(facts memory.fact_to_store[])
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform
    memory.check_text('subject' || w.whose, f.subject, 512),
    memory.check_text('predicate' || w.whose, f.predicate, 512),
    memory.check_text('content' || w.whose, f.content, 1048576),
    memory.check_scope('scope' || w.whose, f.scope),
    memory.check_number('importance' || w.whose, f.importance, 0, 10),
    memory.check_number('confidence' || w.whose, f.confidence, 0, 1),
    memory.check_word(
      'permanence' || w.whose, f.permanence, '{permanent,stable,standard,volatile,ephemeral}'
    ),
    memory.check_tags(f.tags, w.whose),
    memory.check_metadata(f.metadata, '{status}', w.whose),
    case
      when f.source_butler is not null
      then memory.check_scope('source_butler' || w.whose, f.source_butler)
    end,
    case when f.embedding is not null then memory.check_embedding(f.embedding, w.whose) end,
    memory.check_idempotency_key(f.idempotency_key, w.whose),
    memory.check_interval(f.valid_from, f.valid_to, w.whose)
  from unnest(facts) with ordinality as f
  cross join lateral (values (' of fact ' || f.ordinality)) as w (whose)
  order by f.ordinality;
end;
$$;

comment on function memory.check_facts(memory.fact_to_store[]) is
'Rejects arguments that store_fact would reject; the message says which fact. Errors: PM002.';

create or replace function memory.store_facts(
  facts jsonb,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    id uuid,
    created boolean,
    superseded_id uuid
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_text_search_config text := memory.text_search_config_of(v_tenant_id);
  v_facts memory.fact_to_store[] := memory.read_facts(facts, as_of);
  v_version_id uuid;
  v_ids uuid[]; -- the id of each: its own or that of its idempotency key
  v_active_ids uuid[]; -- the active fact that each finds under its key
  v_superseded_ids uuid[]; -- what each supersedes, perhaps another fact of the batch
  v_reused text;
begin
  perform memory.check_facts(v_facts);
  perform memory.check_write_time('as_of', as_of);

  -- The same locks in the same order as store_fact, and each kind in key order, so that batches and
  -- single stores cannot deadlock.
  v_version_id := memory.lock_embedding_version(
    v_tenant_id,
    (select f.embedding from unnest(v_facts) as f where f.embedding is not null limit 1),
    store_facts.embedding_version_id
  );
  perform memory.lock_entities(
    v_tenant_id,
    array(
      select e.entity_id
      from unnest(v_facts) as f
      cross join lateral (values (1, f.entity_id), (2, f.object_entity_id)) as e (place, entity_id)
      order by f.id, e.place
    ),
    'fact'
  );
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  select distinct v_tenant_id, f.scope, f.anchor, f.predicate
  from unnest(v_facts) as f
  order by f.scope, f.anchor, f.predicate
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;
  perform memory.lock_sources(
    v_tenant_id, array(select f.source_episode_id from unnest(v_facts) as f order by f.id), 'fact'
  );

  -- An idempotency key identifies the first fact it came with, in this batch or earlier.
  v_ids := array(
    select coalesce(
      k.id,
      first_value(f.id) over (
        partition by f.idempotency_key, case when f.idempotency_key is null then f.id end
        order by f.id
      )
    )
    from unnest(v_facts) as f
    left join memory.facts as k
      on k.tenant_id = v_tenant_id and k.idempotency_key = f.idempotency_key
    order by f.id
  );

  v_active_ids := array(
    select case
      when v_ids[f.ordinality] <> f.id or f.valid_to <= as_of then null
      when f.entity_id is null then (
        select a.id
        from memory.facts as a
        where a.tenant_id = v_tenant_id and a.scope = f.scope and a.subject = f.subject
          and a.predicate = f.predicate and a.entity_id is null and a.validity = 'active'
      )
      else (
        select a.id
        from memory.facts as a
        where a.tenant_id = v_tenant_id and a.entity_id = f.entity_id and a.scope = f.scope
          and a.predicate = f.predicate and a.validity = 'active'
      )
    end
    from unnest(v_facts) with ordinality as f
    order by f.ordinality
  );
  with active as (
    select a.id
    from memory.facts as a
    where a.tenant_id = v_tenant_id and a.id = any (v_active_ids) and a.validity = 'active'
    order by a.id
    for no key update
  )
  update memory.facts as f
  set
    validity = 'superseded',
    metadata = f.metadata - 'status',
    valid_to = least(f.valid_to, greatest(f.valid_from, s.valid_from)),
    updated_at = memory.next_state_at(f.updated_at, as_of)
  from active as a
  join (
    select distinct on (n.active_id) n.active_id, n.valid_from
    from (
      select v_active_ids[u.ordinality] as active_id, u.valid_from, u.ordinality
      from unnest(v_facts) with ordinality as u
    ) as n
    order by n.active_id, n.ordinality
  ) as s on s.active_id = a.id
  where f.tenant_id = v_tenant_id and f.id = a.id;

  -- The previous fact of the batch with the same key, otherwise the active fact, unless that was
  -- forgotten in the meantime.
  v_superseded_ids := array(
    select case
      when v_ids[f.ordinality] = f.id and (f.valid_to <= as_of) is not true
      then coalesce(
        lag(f.id) over (
          partition by
            v_ids[f.ordinality] = f.id, (f.valid_to <= as_of) is true, f.scope, f.anchor,
            f.predicate
          order by f.id
        ),
        (
          select s.id
          from memory.facts as s
          where s.tenant_id = v_tenant_id and s.id = v_active_ids[f.ordinality]
            and s.validity = 'superseded'
        )
      )
    end
    from unnest(v_facts) with ordinality as f
    order by f.ordinality
  );

  insert into memory.facts (
    tenant_id, id, subject, predicate, content, importance, permanence, decay_rate, scope, tags,
    entity_id, object_entity_id, confidence, source_butler, source_episode_id, supersedes_id,
    validity, metadata, embedding, embedding_version_id, text_search_config, idempotency_key,
    created_at, last_confirmed_at, valid_from, valid_to
  )
  select
    v_tenant_id, n.id, n.subject, n.predicate, n.content, n.importance, n.permanence,
    memory.decay_rate_of(n.permanence), n.scope, n.tags, n.entity_id, n.object_entity_id,
    n.confidence, n.source_butler, n.source_episode_id, v_superseded_ids[n.ordinality],
    case when n.has_ended or n.next_id is not null then 'superseded' else 'active' end, n.metadata,
    n.embedding, case when n.embedding is not null then v_version_id end,
    v_text_search_config, n.idempotency_key, as_of, as_of, n.valid_from,
    case
      when n.has_ended then n.valid_to
      when n.next_id is null then n.valid_to
      else least(n.valid_to, greatest(n.valid_from, n.next_valid_from))
    end
  from (
    select
      f.*,
      f.valid_to <= as_of is true as has_ended,
      lead(f.id) over chain as next_id,
      lead(f.valid_from) over chain as next_valid_from
    from unnest(v_facts) with ordinality as f
    where v_ids[f.ordinality] = f.id
    window chain as (
      partition by f.scope, f.anchor, f.predicate, f.valid_to <= as_of is true order by f.id
    )
  ) as n
  order by n.idempotency_key, n.id
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing;

  select f.idempotency_key into v_reused
  from unnest(v_facts) with ordinality as f
  join memory.facts as k
    on k.tenant_id = v_tenant_id and k.idempotency_key = f.idempotency_key
  where k.id <> v_ids[f.ordinality]
    or (k.scope, k.subject, k.predicate) <> (f.scope, f.subject, f.predicate)
    or k.content <> f.content
    or (k.entity_id, k.object_entity_id) is distinct from (f.entity_id, f.object_entity_id)
  order by f.ordinality
  limit 1;
  if found then
    perform memory.refuse_reused_key(v_reused);
  end if;

  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'fact', f.id, l.target_type, l.target_id, l.relation
  from unnest(v_facts) with ordinality as f
  cross join lateral (values
    (1, 'fact', v_superseded_ids[f.ordinality], 'supersedes'),
    (2, 'episode', f.source_episode_id, 'derived_from')
  ) as l (position, target_type, target_id, relation)
  where v_ids[f.ordinality] = f.id and l.target_id is not null
  order by f.ordinality, l.position;

  return query
  select
    f.ordinality, v_ids[f.ordinality], v_ids[f.ordinality] = f.id,
    v_superseded_ids[f.ordinality]
  from unnest(v_facts) with ordinality as f
  order by f.ordinality;
end;
$$;

comment on function memory.store_facts(jsonb, uuid, timestamptz) is
'Stores many facts, all or none, as store_fact would one by one: an array of objects with subject, '
'predicate, content and, optionally, importance, permanence, scope, tags, entity_id, '
'object_entity_id, confidence, source_butler, source_episode_id, metadata, embedding (an array of '
'numbers, of the version embedding_version_id), idempotency_key, valid_from and valid_to. A fact '
'supersedes an earlier one of the batch with the same key. Returns for each, in order, its id, '
'whether it is new, and what it superseded; a fact with a known idempotency_key keeps its first '
'id. Events come in three groups: existing facts are superseded, new facts are created one after '
'the other, their links are created. Errors: as store_fact; the message says which fact.';
grant execute on function memory.store_facts to memory_writer;

create or replace function memory.lock_fact_key(
  tenant_id text,
  scope text,
  subject text,
  entity_id uuid,
  predicate text
)
  returns uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_active_id uuid;
begin
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  values (
    lock_fact_key.tenant_id, lock_fact_key.scope,
    coalesce('entity:' || lock_fact_key.entity_id, 'subject:' || lock_fact_key.subject),
    lock_fact_key.predicate
  )
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;

  -- Two statements, one for each unique index.
  if lock_fact_key.entity_id is null then
    select f.id into v_active_id
    from memory.facts as f
    where f.tenant_id = lock_fact_key.tenant_id and f.scope = lock_fact_key.scope
      and f.subject = lock_fact_key.subject and f.predicate = lock_fact_key.predicate
      and f.entity_id is null and f.validity = 'active';
  else
    select f.id into v_active_id
    from memory.facts as f
    where f.tenant_id = lock_fact_key.tenant_id and f.entity_id = lock_fact_key.entity_id
      and f.scope = lock_fact_key.scope and f.predicate = lock_fact_key.predicate
      and f.validity = 'active';
  end if;
  return v_active_id;
end;
$$;

comment on function memory.lock_fact_key(text, text, text, uuid, text) is
'Prevents another active fact of a key until the end of the transaction; returns the id of the '
'active one, NULL for none. (store_fact takes the same lock itself.)';

-- The key-share lock conflicts with a merge of an entity, which locks it FOR UPDATE; the state is
-- read after the lock.
create or replace function memory.lock_entities(
  tenant_id text,
  entity_ids uuid[],
  name text default null
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad record;
begin
  if array_remove(entity_ids, null) = '{}' then
    return;
  end if;
  perform
  from memory.entities as e
  where e.tenant_id = lock_entities.tenant_id and e.id = any (entity_ids)
  order by e.id
  for key share;

  select
    i.id || coalesce(' of ' || name || ' ' || (i.ordinality + 1) / 2, '') as which,
    e.metadata ->> 'merged_into' as merged_into
  into v_bad
  from unnest(entity_ids) with ordinality as i (id, ordinality)
  left join memory.entities as e on e.tenant_id = lock_entities.tenant_id and e.id = i.id
  where i.id is not null and (e.id is null or e.metadata ? 'merged_into')
  order by i.ordinality
  limit 1;
  if v_bad.merged_into is not null then
    raise exception 'entity % was merged into %', v_bad.which, v_bad.merged_into
      using errcode = 'PM003', hint = 'Use the entity it was merged into.';
  elsif found then
    raise exception 'entity % does not exist', v_bad.which
      using errcode = 'PM001', hint = 'Pass the id of an existing entity, or leave entity_id out.';
  end if;
end;
$$;

comment on function memory.lock_entities(text, uuid[], text) is
'Prevents a merge or deletion of entities until the end of the transaction; NULL is valid. With a '
'name such as "fact", the message says which of several is meant; each has two of the entities. '
'Errors: PM001 unknown entity, PM003 merged away.';

create or replace function memory.lock_sources(
  tenant_id text,
  episode_ids uuid[],
  name text
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_missing record;
begin
  if array_remove(episode_ids, null) = '{}' then
    return;
  end if;
  perform
  from memory.episodes as e
  where e.tenant_id = lock_sources.tenant_id and e.id = any (episode_ids)
  order by e.id
  for key share;

  select i.id, i.ordinality into v_missing
  from unnest(episode_ids) with ordinality as i (id, ordinality)
  left join memory.episodes as e on e.tenant_id = lock_sources.tenant_id and e.id = i.id
  where i.id is not null and e.id is null
  order by i.ordinality
  limit 1;
  if found then
    raise exception 'no episode has id %, the source of % %', v_missing.id, name, v_missing.ordinality
      using errcode = 'PM001',
        hint = 'Leave source_episode_id out, or pass the id that store_episode returned.';
  end if;
end;
$$;

comment on function memory.lock_sources(text, uuid[], text) is
'Prevents deletion of the source episodes of several memories until the end of the transaction; '
'NULL is valid. Errors: PM001 unknown episode; the message says of which memory.';

commit;
