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
  v_subject_key text := memory.spelling_key(v_subject);
  v_predicate_key text := memory.predicate_key(v_predicate);
  v_scope text := memory.collapse_whitespace(store_fact.scope);
  v_valid_from timestamptz := coalesce(store_fact.valid_from, as_of);
  v_valid_to timestamptz := store_fact.valid_to;
  v_planned_for timestamptz := memory.planned_for(v_valid_from, as_of);
  v_new memory.fact_to_store;
  v_version_id uuid;
  v_stored memory.facts;
  v_begun uuid[]; -- plans of the key that have begun
  v_active memory.facts; -- the active fact of the key
  v_validity text := 'active';
  v_id uuid;
begin
  perform
    memory.check_text('subject', v_subject, 512),
    memory.check_text('predicate', v_predicate, 512),
    memory.check_text('content', store_fact.content, 1048576),
    memory.check_scope('scope', v_scope),
    memory.check_number('importance', store_fact.importance, 0, 10),
    memory.check_number('confidence', store_fact.confidence, 0, 1),
    memory.check_word('permanence', store_fact.permanence, memory.permanences()),
    memory.check_tags(store_fact.tags),
    memory.check_metadata(store_fact.metadata, '{status,ended_by_run,ended_before}'),
    memory.check_idempotency_key(store_fact.idempotency_key),
    memory.check_write_time('as_of', as_of),
    memory.check_interval(v_valid_from, store_fact.valid_to);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, store_fact.embedding, store_fact.embedding_version_id
  );
  v_new := row(
    null, null, v_predicate_key, v_subject, v_predicate, store_fact.content, store_fact.importance,
    store_fact.permanence, v_scope, store_fact.tags, store_fact.entity_id,
    store_fact.object_entity_id, store_fact.confidence, store_fact.source_butler,
    store_fact.source_episode_id, store_fact.metadata, null, store_fact.idempotency_key,
    v_valid_from, store_fact.valid_to, null, null
  )::memory.fact_to_store;
  v_begun := memory.find_begun_plans(v_tenant_id, array[v_new], as_of);
  if v_begun <> '{}' then
    perform memory.lock_entities_of_facts(
      v_tenant_id, v_begun, array[store_fact.entity_id, store_fact.object_entity_id]
    );
  end if;
  if store_fact.entity_id is not null or store_fact.object_entity_id is not null then
    perform memory.lock_entities(
      v_tenant_id, array[store_fact.entity_id, store_fact.object_entity_id]
    );
  end if;

  -- One store per key at a time: the no-op update locks the row, so the next store waits here and
  -- then sees this fact.
  insert into memory.fact_keys as k (tenant_id, scope, anchor, predicate)
  values (
    v_tenant_id, v_scope, memory.fact_anchor(store_fact.entity_id, v_subject_key), v_predicate_key
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
      if not memory.is_same_fact(v_stored, v_new) then
        perform memory.refuse_reused_key(store_fact.idempotency_key);
      end if;
      return v_stored.id;
    end if;
  end if;

  if v_begun <> '{}' then
    perform memory.begin_plans(v_tenant_id, v_begun, v_valid_from, '{}', as_of);
  end if;

  -- A fact that comes late also ends earlier ones (end_earlier): all are locked here, because nobody
  -- locks two facts against their order.
  if v_valid_from < as_of and (store_fact.valid_to <= as_of) is not true then
    perform
    from memory.facts_of_key(
      v_tenant_id, v_scope, v_subject_key, store_fact.entity_id, v_predicate_key, v_valid_from
    ) as k (id)
    join memory.facts as f on f.tenant_id = v_tenant_id and f.id = k.id
    order by f.id
    for no key update of f;
  end if;

  -- Two statements, one for each unique index. A fact whose validity has already ended supersedes
  -- nothing.
  if store_fact.valid_to <= as_of then
    v_validity := 'superseded';
  elsif store_fact.entity_id is null then
    select f.* into v_active
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.scope = v_scope
      and f.subject_key = v_subject_key and f.predicate_key = v_predicate_key
      and f.planned_for is not distinct from v_planned_for
      and f.entity_id is null and f.validity = 'active'
    for no key update;
  else
    select f.* into v_active
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.entity_id = store_fact.entity_id and f.scope = v_scope
      and f.predicate_key = v_predicate_key
      and f.planned_for is not distinct from v_planned_for and f.validity = 'active'
    for no key update;
  end if;
  if v_active.valid_to <= as_of then
    perform memory.end_facts(v_tenant_id, array[v_active.id], as_of);
    v_active := null;
  end if;
  if memory.comes_late(v_valid_from, v_active.valid_from, v_active.created_at, as_of) then
    v_validity := 'superseded';
    v_valid_to := least(
      store_fact.valid_to,
      memory.next_start(
        v_tenant_id, v_scope, v_subject, store_fact.entity_id, v_predicate, v_valid_from
      )
    );
    perform memory.end_earlier(
      v_tenant_id, v_scope, v_subject, store_fact.entity_id, v_predicate, array[v_valid_from], as_of
    );
    v_active := null;
  elsif v_active.created_at <= as_of
    and v_active.trust = memory.trust_of_episode(v_tenant_id, store_fact.source_episode_id)
    and memory.repeats_fact(memory.as_stored(v_active), v_new)
  then
    perform memory.confirm_repeated(
      v_tenant_id, v_active.id, store_fact.idempotency_key, store_fact.source_episode_id, as_of
    );
    return v_active.id;
  end if;
  if v_active.id is not null then
    update memory.facts as f
    set
      validity = 'superseded',
      metadata = f.metadata - 'status',
      valid_to = least(f.valid_to, greatest(f.valid_from, v_valid_from)),
      updated_at = memory.next_state_at(f.updated_at, as_of)
    where f.tenant_id = v_tenant_id and f.id = v_active.id;
  end if;

  insert into memory.facts (
    tenant_id, subject, predicate, content, importance, permanence, decay_rate, scope, tags,
    entity_id, object_entity_id, confidence, source_butler, source_episode_id, supersedes_id,
    validity, metadata, embedding, embedding_version_id, text_search_config, idempotency_key,
    created_at, last_confirmed_at, valid_from, valid_to, planned_for
  )
  values (
    v_tenant_id, v_subject, v_predicate, store_fact.content, store_fact.importance,
    store_fact.permanence,
    case when v_planned_for is null then memory.decay_rate_of(store_fact.permanence) else 0 end,
    v_scope, store_fact.tags,
    store_fact.entity_id, store_fact.object_entity_id, store_fact.confidence,
    store_fact.source_butler, store_fact.source_episode_id, v_active.id, v_validity,
    store_fact.metadata, store_fact.embedding, v_version_id,
    memory.text_search_config_of(v_tenant_id), store_fact.idempotency_key, as_of, as_of,
    v_valid_from, v_valid_to, v_planned_for
  )
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
  returning id into v_id;
  if v_id is null then
    perform memory.refuse_reused_key(store_fact.idempotency_key);
  end if;

  if v_active.id is not null or store_fact.source_episode_id is not null then
    insert into memory.memory_links
      (tenant_id, source_type, source_id, target_type, target_id, relation)
    select v_tenant_id, 'fact', v_id, l.target_type, l.target_id, l.relation
    from (values
      ('fact', v_active.id, 'supersedes'),
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
'predicate) or (entity_id, scope, predicate), is superseded and linked in the same transaction; '
'case, whitespace, Unicode forms and a predicate''s underscores do not matter. '
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
      "valid_from": "time", "valid_to": "time", "source_class": "string", "created_at": "time"
    }'
  );
  v_ids := array(select gen_random_uuid() as id from jsonb_array_elements(facts) order by id);
  return array(
    select row(
      v_ids[f.ordinality],
      memory.fact_anchor(f.entity_id, memory.spelling_key(f.subject)),
      memory.predicate_key(f.predicate),
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
      coalesce(f.valid_from, f.created_at, as_of),
      f.valid_to,
      f.source_class,
      f.created_at
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
        valid_to timestamptz,
        source_class text,
        created_at timestamptz
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
    memory.check_word('permanence' || w.whose, f.permanence, memory.permanences()),
    memory.check_tags(f.tags, w.whose),
    memory.check_metadata(f.metadata, '{status,ended_by_run,ended_before}', w.whose),
    case
      when f.source_butler is not null
      then memory.check_scope('source_butler' || w.whose, f.source_butler)
    end,
    case when f.embedding is not null then memory.check_embedding(f.embedding, w.whose) end,
    memory.check_idempotency_key(f.idempotency_key, w.whose),
    memory.check_interval(f.valid_from, f.valid_to, w.whose),
    case
      when f.source_class is not null
      then memory.check_word('source_class' || w.whose, f.source_class, memory.source_classes())
    end,
    case
      when f.created_at is not null
      then memory.check_write_time('created_at' || w.whose, f.created_at)
    end
  from unnest(facts) with ordinality as f
  cross join lateral (values (' of fact ' || f.ordinality)) as w (whose)
  order by f.ordinality;
end;
$$;

comment on function memory.check_facts(memory.fact_to_store[]) is
'Rejects arguments that store_fact would reject; the message says which fact. Errors: PM002.';

create or replace function memory.lock_for_facts(
  tenant_id text,
  facts memory.fact_to_store[],
  embedding_version_id uuid,
  as_of timestamptz
)
  returns uuid
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := lock_for_facts.tenant_id;
  v_version_id uuid;
  v_entity_ids uuid[];
  v_begun uuid[]; -- plans of the keys that have begun
begin
  -- The same locks in the same order as store_fact, and each kind in key order, so that batches and
  -- single stores cannot deadlock.
  v_version_id := memory.lock_embedding_version(
    v_tenant_id,
    (select f.embedding from unnest(facts) as f where f.embedding is not null limit 1),
    lock_for_facts.embedding_version_id
  );
  v_entity_ids := array(
    select e.entity_id
    from unnest(facts) as f
    cross join lateral (values (1, f.entity_id), (2, f.object_entity_id)) as e (place, entity_id)
    order by f.id, e.place
  );
  v_begun := memory.find_begun_plans(v_tenant_id, facts, as_of);
  if v_begun <> '{}' then
    perform memory.lock_entities_of_facts(v_tenant_id, v_begun, v_entity_ids);
  end if;
  perform memory.lock_entities(v_tenant_id, v_entity_ids, 'fact');
  insert into memory.fact_keys (tenant_id, scope, anchor, predicate)
  select distinct v_tenant_id, f.scope, f.anchor, f.predicate_key
  from unnest(facts) as f
  order by f.scope, f.anchor, f.predicate_key
  on conflict (tenant_id, scope, anchor, predicate) do update set scope = excluded.scope;
  perform memory.lock_sources(
    v_tenant_id, array(select f.source_episode_id from unnest(facts) as f order by f.id), 'fact'
  );
  if v_begun <> '{}' then
    perform memory.begin_plans(
      v_tenant_id, v_begun, (select min(f.valid_from) from unnest(facts) as f), '{}', as_of
    );
  end if;
  return v_version_id;
end;
$$;

comment on function memory.lock_for_facts(text, memory.fact_to_store[], uuid, timestamptz) is
'Takes the locks under which facts are stored: on the version of their embeddings, their entities, '
'keys and sources; lets begun plans of these keys begin. Returns the version.';

create or replace function memory.lock_active_facts(
  tenant_id text,
  facts memory.fact_to_store[],
  ids uuid[],
  as_of timestamptz
)
  returns uuid[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := lock_active_facts.tenant_id;
  v_active_ids uuid[];
begin
  v_active_ids := array(
    select case
      when ids[f.ordinality] <> f.id or f.valid_to <= as_of then null
      when f.entity_id is null then (
        select a.id
        from memory.facts as a
        where a.tenant_id = v_tenant_id and a.scope = f.scope
          and a.subject_key = memory.spelling_key(f.subject)
          and a.predicate_key = f.predicate_key
          and a.planned_for is not distinct from memory.planned_for(f.valid_from, as_of)
          and a.entity_id is null and a.validity = 'active'
      )
      else (
        select a.id
        from memory.facts as a
        where a.tenant_id = v_tenant_id and a.entity_id = f.entity_id and a.scope = f.scope
          and a.predicate_key = f.predicate_key
          and a.planned_for is not distinct from memory.planned_for(f.valid_from, as_of)
          and a.validity = 'active'
      )
    end
    from unnest(facts) with ordinality as f
    order by f.ordinality
  );
  -- With them the earlier facts that end_earlier may end: nobody locks two facts against their order.
  perform
  from memory.facts as a
  where a.tenant_id = v_tenant_id
    and a.id = any (v_active_ids || array(
      select e.id
      from (
        select
          f.scope, memory.spelling_key(f.subject) as subject_key, f.entity_id, f.predicate_key,
          f.valid_from
        from unnest(facts) with ordinality as f
        where v_active_ids[f.ordinality] is not null and f.valid_from < as_of
        offset 0 -- computes the keys first
      ) as f
      cross join lateral memory.facts_of_key(
        v_tenant_id, f.scope, f.subject_key, f.entity_id, f.predicate_key, f.valid_from
      ) as e (id)
    ))
  order by a.id
  for no key update;
  perform memory.end_facts(v_tenant_id, v_active_ids, as_of);
  return v_active_ids;
end;
$$;

comment on function memory.lock_active_facts(text, memory.fact_to_store[], uuid[], timestamptz) is
'The active fact that each finds under its key, locked, once those of them that have ended are '
'marked; NULL for one that is stored already (ids: by its idempotency key) or has ended.';

create or replace function memory.insert_facts(
  tenant_id text,
  facts memory.fact_to_store[],
  ids uuid[],
  superseded_ids uuid[],
  late bigint[],
  embedding_version_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id constant text := insert_facts.tenant_id;
  v_text_search_config constant text := memory.text_search_config_of(v_tenant_id);
begin
  insert into memory.facts (
    tenant_id, id, subject, predicate, content, importance, permanence, decay_rate, scope, tags,
    entity_id, object_entity_id, confidence, source_butler, source_episode_id, supersedes_id,
    trust, validity, metadata, embedding, embedding_version_id, text_search_config,
    idempotency_key, created_at, last_confirmed_at, planned_for, valid_from, valid_to
  )
  select
    v_tenant_id, n.id, n.subject, n.predicate, n.content, n.importance, n.permanence,
    case
      when memory.planned_for(n.valid_from, as_of) is null
      then memory.decay_rate_of(n.permanence)
      else 0
    end,
    n.scope, n.tags, n.entity_id, n.object_entity_id,
    n.confidence, n.source_butler, n.source_episode_id, superseded_ids[n.ordinality],
    coalesce(n.source_class, 'user'),
    case
      when n.has_ended or n.is_late or n.next_from is not null then 'superseded' else 'active'
    end,
    n.metadata, n.embedding,
    case when n.embedding is not null then insert_facts.embedding_version_id end,
    v_text_search_config, n.idempotency_key, coalesce(n.created_at, as_of), as_of,
    memory.planned_for(n.valid_from, as_of), n.valid_from,
    least(
      n.valid_to,
      case when n.next_from is not null then greatest(n.valid_from, n.next_from) end,
      -- What was known of the key, and came earlier in the batch.
      case
        when n.is_late
        then least(
          memory.next_start(
            v_tenant_id, n.scope, n.subject, n.entity_id, n.predicate, n.valid_from
          ),
          (
            select min(e.valid_from)
            from unnest(facts) with ordinality as e
            where e.scope = n.scope and e.anchor = n.anchor
              and e.predicate_key = n.predicate_key
              and ids[e.ordinality] = e.id and e.ordinality < n.ordinality
              and e.valid_from > n.valid_from and (e.valid_to > e.valid_from) is not false
          )
        )
      end,
      case
        when n.has_ended or n.is_late or n.next_from is not null
        then (
          select min(l.valid_from)
          from unnest(late) as p (place)
          cross join lateral unnest(facts[p.place:p.place]) as l
          where l.scope = n.scope and l.anchor = n.anchor
            and l.predicate_key = n.predicate_key
            and p.place > n.ordinality and l.valid_from >= n.valid_from
        )
      end
    )
  from (
    select
      f.*,
      f.valid_to <= as_of is true as has_ended,
      f.ordinality = any (late) as is_late,
      s.next_from
    from unnest(facts) with ordinality as f
    left join (
      select superseded_ids[u.ordinality] as id, u.valid_from as next_from
      from unnest(facts) with ordinality as u
    ) as s on s.id = f.id
    where ids[f.ordinality] = f.id
  ) as n
  order by n.idempotency_key, n.id
  on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing;
end;
$$;

comment on function memory.insert_facts(
  text, memory.fact_to_store[], uuid[], uuid[], bigint[], uuid, timestamptz
) is
'Inserts those of the facts that are new. ids: the id of each, its own if it is; superseded_ids: '
'what it supersedes, perhaps another one of them; late: the places of those that are valid from '
'before what was known.';

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
  v_facts memory.fact_to_store[] := memory.read_facts(facts, as_of);
  v_version_id uuid;
  v_ids uuid[]; -- the id of each: its own or that of its idempotency key
  v_active_ids uuid[]; -- the active fact that each finds under its key
  v_superseded_ids uuid[]; -- what each supersedes, perhaps another fact of the batch
  v_late bigint[] := '{}'::bigint []; -- those that are valid from before the active fact
  v_repeated bigint[] := '{}'::bigint []; -- those that say what the active fact says
  v_known memory.fact_to_store; -- the active fact of the key at hand
  v_known_at timestamptz;
  v_known_trust text;
  v_new memory.fact_to_store;
  v_new_trust text;
  v_place bigint;
  v_is_first boolean;
  v_reused text;
begin
  perform memory.check_facts(v_facts);
  perform memory.check_write_time('as_of', as_of);

  v_version_id := memory.lock_for_facts(
    v_tenant_id, v_facts, store_facts.embedding_version_id, as_of
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
  v_active_ids := memory.lock_active_facts(v_tenant_id, v_facts, v_ids, as_of);

  -- What store_fact would do with one after the other.
  v_superseded_ids := array_fill(null::uuid, array[cardinality(v_facts)]);
  for v_place, v_is_first in
    select
      f.ordinality,
      row_number() over (
        partition by f.scope, f.anchor, f.predicate_key, p.planned_for order by f.ordinality
      ) = 1
    from unnest(v_facts) with ordinality as f
    cross join lateral (
      select memory.planned_for(f.valid_from, as_of) as planned_for
    ) as p
    where v_ids[f.ordinality] = f.id and (f.valid_to <= as_of) is not true
    order by f.scope, f.anchor, f.predicate_key, p.planned_for, f.ordinality
  loop
    v_new := v_facts[v_place];
    if v_is_first then
      v_known := null;
      v_known_at := null;
      if v_active_ids[v_place] is not null then
        -- Unless it was forgotten in the meantime.
        select (memory.as_stored(f)).* into v_known
        from memory.facts as f
        where f.tenant_id = v_tenant_id and f.id = v_active_ids[v_place] and f.validity = 'active';
        select f.created_at, f.trust into v_known_at, v_known_trust
        from memory.facts as f
        where f.tenant_id = v_tenant_id and f.id = v_known.id;
      end if;
    end if;
    v_new_trust := memory.least_trust(
      memory.trust_of_episode(v_tenant_id, v_new.source_episode_id), v_new.source_class
    );
    if memory.comes_late(v_new.valid_from, v_known.valid_from, v_known_at, as_of) then
      v_late := v_late || v_place;
    elsif v_known_at <= as_of and v_known_trust = v_new_trust
      and memory.repeats_fact(v_known, v_new)
    then
      v_repeated := v_repeated || v_place;
      v_ids[v_place] := v_known.id;
      v_known.idempotency_key := coalesce(v_known.idempotency_key, v_new.idempotency_key);
    else
      v_superseded_ids[v_place] := v_known.id;
      v_known := v_new;
      v_known_at := as_of;
      v_known_trust := v_new_trust;
    end if;
  end loop;
  -- The same idempotency key later in the batch means the confirmed fact, too.
  v_ids := array(
    select coalesce(v_ids[f.ordinality], v_ids[u.ordinality])
    from unnest(v_facts) with ordinality as u
    left join unnest(v_facts) with ordinality as f on f.id = v_ids[u.ordinality]
    order by u.ordinality
  );

  update memory.facts as f
  set
    validity = 'superseded',
    metadata = f.metadata - 'status',
    valid_to = least(f.valid_to, greatest(f.valid_from, u.valid_from)),
    updated_at = memory.next_state_at(f.updated_at, as_of)
  from unnest(v_facts) with ordinality as u
  where f.tenant_id = v_tenant_id and f.id = any (v_active_ids)
    and f.id = v_superseded_ids[u.ordinality];
  perform memory.end_earlier(
    v_tenant_id, l.scope, l.subject, l.entity_id, l.predicate, l.starts, as_of
  )
  from (
    select
      f.scope, min(f.subject collate "C") as subject, f.entity_id,
      f.predicate_key as predicate,
      array_agg(f.valid_from order by f.ordinality) as starts
    from unnest(v_facts) with ordinality as f
    where f.ordinality = any (v_late)
    group by f.scope, f.anchor, f.entity_id, f.predicate_key
    order by f.scope, f.anchor, f.predicate_key
  ) as l;

  perform memory.insert_facts(
    v_tenant_id, v_facts, v_ids, v_superseded_ids, v_late, v_version_id, as_of
  );

  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'fact', f.id, l.target_type, l.target_id, l.relation
  from unnest(v_facts) with ordinality as f
  cross join lateral (values
    (1, 'fact', v_superseded_ids[f.ordinality], 'supersedes'),
    (2, 'episode', f.source_episode_id, 'derived_from')
  ) as l (position, target_type, target_id, relation)
  where v_ids[f.ordinality] = f.id and l.target_id is not null
    -- Unless its idempotency key was used in the meantime, which is refused below.
    and exists (select from memory.facts as n where n.tenant_id = v_tenant_id and n.id = f.id)
  order by f.ordinality, l.position;

  perform memory.confirm_repeated(
    v_tenant_id, r.id, r.idempotency_key, r.source_episode_id, as_of
  )
  from (
    select v_ids[f.ordinality] as id, f.idempotency_key, f.source_episode_id
    from unnest(v_facts) with ordinality as f
    where f.ordinality = any (v_repeated)
    order by v_ids[f.ordinality], f.ordinality
  ) as r;

  select f.idempotency_key into v_reused
  from unnest(v_facts) with ordinality as f
  join memory.facts as k
    on k.tenant_id = v_tenant_id and k.idempotency_key = f.idempotency_key
  where k.id <> v_ids[f.ordinality]
    or not memory.is_same_fact(k, v_facts[f.ordinality])
  order by f.ordinality
  limit 1;
  if found then
    perform memory.refuse_reused_key(v_reused);
  end if;

  return query
  select
    f.ordinality, v_ids[f.ordinality], v_ids[f.ordinality] = f.id,
    v_superseded_ids[f.ordinality]
  from unnest(v_facts) with ordinality as f
  order by f.ordinality;
end;
$$;

comment on function memory.store_facts(jsonb, uuid, timestamptz) is
'Stores many facts, all or none, as store_fact would one by one: an array of objects with '
'subject, predicate, content and, optionally, importance, permanence, scope, tags, entity_id, '
'object_entity_id, confidence, source_butler, source_episode_id, metadata, embedding (an array of '
'numbers, of the version embedding_version_id), idempotency_key, valid_from, valid_to, '
'source_class (whose statement it is, as of an episode; default user) and created_at (of a fact '
'that comes from elsewhere: since when it was known there; it counts as confirmed at as_of). A '
'fact supersedes an earlier one of the batch with the same key. Returns for each, in order, its '
'id, whether it is new, and what it superseded; a fact with a known idempotency_key keeps its '
'first id, and one that says what is known keeps the id of that fact. Events come in groups: '
'existing facts are superseded, new facts are created one after the other, links are created, '
'facts that are stored again are confirmed. Errors: as store_fact; the message says which fact.';
grant execute on function memory.store_facts to memory_writer;

commit;
