-- Deploy pymem:functions/core/store/store_rules to pg

begin;

set local role memory_owner;

create or replace function memory.store_rule(
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
  v_tenant_id text := memory.current_tenant();
  v_scope text := memory.collapse_whitespace(store_rule.scope);
  v_version_id uuid;
  v_id uuid;
begin
  perform
    memory.check_text('content', store_rule.content, 1048576),
    memory.check_scope('scope', v_scope),
    memory.check_number('confidence', store_rule.confidence, 0, 1),
    memory.check_number('importance', store_rule.importance, 0, 10),
    memory.check_tags(store_rule.tags),
    memory.check_metadata(
      store_rule.metadata,
      '{
        status,forgotten,needs_inversion,harmful_reasons,original_content,inverted_from,
        ended_by_run
      }'
    ),
    memory.check_idempotency_key(store_rule.idempotency_key),
    memory.check_write_time('as_of', as_of);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_rule.embedding, store_rule.embedding_version_id
  );
  perform memory.check_source(v_tenant_id, store_rule.source_butler, store_rule.source_episode_id);

  insert into memory.rules (
    tenant_id, content, scope, tags, confidence, importance, decay_rate, source_butler,
    source_episode_id, metadata, embedding, embedding_version_id, text_search_config,
    idempotency_key, created_at, last_confirmed_at
  )
  values (
    v_tenant_id, store_rule.content, v_scope, store_rule.tags, store_rule.confidence,
    store_rule.importance, 0.01, store_rule.source_butler, store_rule.source_episode_id,
    store_rule.metadata, store_rule.embedding, v_version_id,
    memory.text_search_config_of(v_tenant_id), store_rule.idempotency_key, as_of, as_of
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
'Stores guidance and returns its id. A rule starts as a candidate, by default with confidence 0.5, '
'and decays by 0.01 a day. Storing again with the same idempotency_key returns the first id. '
'Errors: PM002 invalid argument, PM001 unknown source episode, PM004 key used for another rule.';
grant execute on function memory.store_rule to memory_writer;

commit;
