-- Deploy pymem:functions/store_facts to pg
-- requires: functions/embedding
-- requires: functions/settings
-- requires: functions/checks
-- requires: tables/audit_triggers

begin;

set local role memory_owner;

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
