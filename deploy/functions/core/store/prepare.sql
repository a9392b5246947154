-- Deploy pymem:functions/core/store/prepare to pg

begin;

set local role memory_owner;

-- Not a CHECK constraint: every update evaluates those, so counting a reference would fetch the
-- vector.
create or replace function memory.check_vector()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- A zero or huge vector has no cosine: the result is NaN, which would top every ranking.
  if vector_norm(new.embedding) not between 1e-6 and 1e6 then
    raise exception 'the norm of the embedding is %', vector_norm(new.embedding)
      using errcode = 'PM002',
        hint = 'Pass the vector of a text; its norm must be between 1e-6 and 1e6.';
  end if;
  return new;
end;
$$;

comment on function memory.check_vector() is
'Trigger: rejects a vector without a direction.';

create or replace function memory.trust_rank(source_class text)
  returns integer
  language sql
  immutable
  parallel safe
  return 5 - array_position(memory.source_classes(), source_class);

comment on function memory.trust_rank(text) is
'How much a source class is trusted: external 1, tool 2, agent 3, user 4; NULL for another.';

create or replace function memory.least_trust(
  one text,
  other text
)
  returns text
  language sql
  immutable
  parallel safe
  return case
    when memory.trust_rank(other) < memory.trust_rank(one) then other else one
  end;

comment on function memory.least_trust(text, text) is
'The less trusted of two source classes (memory.trust_rank). NULL for other counts as user.';

create or replace function memory.prepare_episode()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_rendered text;
begin
  if tg_op = 'UPDATE' then
    if (
      (
        new.tenant_id, new.id, new.butler, new.session_id, new.content, new.source_class,
        new.created_at
      ) is distinct from (
        old.tenant_id, old.id, old.butler, old.session_id, old.content, old.source_class,
        old.created_at
      )
    ) then
      raise exception 'episode % is append-only', old.id
        using errcode = 'PM006',
          hint = 'Store another episode, and forget this one if it is wrong.';
    end if;
    -- Callers may set either column; consolidation_status is authoritative.
    if new.consolidation_status is not distinct from old.consolidation_status
      and new.consolidated and not old.consolidated
    then
      new.consolidation_status := 'consolidated';
    end if;
  elsif new.consolidated and new.consolidation_status = 'pending' then
    new.consolidation_status := 'consolidated';
  end if;
  new.consolidated := new.consolidation_status = 'consolidated';
  if tg_op = 'INSERT' and not memory.is_restoring() then
    new.updated_at := new.created_at;
  end if;

  if tg_op = 'INSERT'
    or (new.text_search_config, new.index_rendering, new.search_vector)
      is distinct from (old.text_search_config, old.index_rendering, old.search_vector)
  then
    v_rendered := memory.render_memory(
      'episode', new.content,
      happened_at => case when new.index_rendering = 'dated' then new.created_at end
    );
    new.search_vector := memory.to_search_vector(new.text_search_config, v_rendered);
  end if;
  return new;
end;
$$;

comment on function memory.prepare_episode() is
'Trigger: keeps content unchanged, the two consolidation columns consistent and the search vector '
'up to date.';

create or replace function memory.prepare_entity()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if (
    (new.tenant_id, new.id, new.created_at) is distinct from (old.tenant_id, old.id, old.created_at)
  ) then
    raise exception 'the identity of entity % cannot change', old.id
      using errcode = 'PM006', hint = 'Create another entity, and merge this one into it.';
  end if;
  return new;
end;
$$;

comment on function memory.prepare_entity() is
'Trigger: keeps the identity of an entity unchanged.';

-- A statement trigger: an import of many entities writes their names at once.
create or replace function memory.write_names()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    delete from memory.entity_names as n
    using new_rows as e
    where n.tenant_id = e.tenant_id and n.entity_id = e.id;
  end if;
  insert into memory.entity_names (tenant_id, name, entity_id, entity_type, is_canonical)
  select distinct on (e.tenant_id, e.id, n.name)
    e.tenant_id, n.name, e.id, e.entity_type, n.is_canonical
  from new_rows as e
  cross join lateral (
    select memory.fold_name(e.canonical_name) as name, true as is_canonical
    union all
    select memory.fold_name(a.alias), false from unnest(e.aliases) as a (alias)
  ) as n
  where e.lifecycle_state = 'active' and n.name <> ''
  order by e.tenant_id, e.id, n.name, n.is_canonical desc;
  return null;
end;
$$;

comment on function memory.write_names() is
'Statement trigger on entities: maintains memory.entity_names.';

create or replace function memory.prepare_fact()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_rendered text;
  v_source record;
begin
  if new.validity = 'forgotten' then
    new.validity := 'retracted';
  elsif new.validity = 'fading' then
    new.validity := 'active';
    new.metadata := new.metadata || '{"status": "fading"}';
  end if;

  if new.validity = 'superseded' and new.valid_to is null then
    new.valid_to := greatest(
      new.valid_from, case tg_op when 'INSERT' then new.created_at else now() end
    );
  end if;

  if tg_op = 'INSERT' then
    new.last_confirmed_at := coalesce(new.last_confirmed_at, new.created_at);
    if not memory.is_restoring() then
      new.updated_at := new.created_at;
      new.observed_at := new.created_at;
      if new.source_episode_id is not null then
        select e.source_class, e.created_at into v_source
        from memory.episodes as e
        where e.tenant_id = new.tenant_id and e.id = new.source_episode_id;
        new.trust := memory.least_trust(new.trust, v_source.source_class);
        new.observed_at := coalesce(v_source.created_at, new.created_at);
      end if;
    end if;
  elsif (
    (new.tenant_id, new.id, new.subject, new.predicate, new.content, new.created_at)
    is distinct from
    (old.tenant_id, old.id, old.subject, old.predicate, old.content, old.created_at)
  ) then
    raise exception 'fact % cannot be edited', old.id
      using errcode = 'PM006', hint = 'Store the corrected fact: it supersedes this one.';
  end if;

  if tg_op = 'INSERT'
    or (new.text_search_config, new.search_vector)
      is distinct from (old.text_search_config, old.search_vector)
  then
    v_rendered := memory.render_memory('fact', new.content, new.subject, new.predicate);
    new.search_vector := memory.to_search_vector(new.text_search_config, v_rendered);
  end if;
  return new;
end;
$$;

comment on function memory.prepare_fact() is
'Trigger: stores the validity forgotten as retracted and fading as active, takes trust and '
'observed_at from the source episode, closes the validity interval of a superseded fact, keeps '
'content unchanged and the search vector up to date.';

create or replace function memory.prepare_rule()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
declare
  v_rendered text;
  v_source record;
begin
  if tg_op = 'INSERT' then
    new.last_confirmed_at := coalesce(new.last_confirmed_at, new.created_at);
    if not memory.is_restoring() then
      new.updated_at := new.created_at;
      new.observed_at := new.created_at;
      if new.source_episode_id is not null then
        select e.source_class, e.created_at into v_source
        from memory.episodes as e
        where e.tenant_id = new.tenant_id and e.id = new.source_episode_id;
        new.trust := memory.least_trust(new.trust, v_source.source_class);
        new.observed_at := coalesce(v_source.created_at, new.created_at);
      end if;
    end if;
  elsif (
    (new.tenant_id, new.id, new.created_at) is distinct from (old.tenant_id, old.id, old.created_at)
  ) then
    raise exception 'the identity of rule % cannot change', old.id
      using errcode = 'PM006', hint = 'Store another rule, and forget this one.';
  end if;

  -- A vector belongs to its text.
  if tg_op = 'UPDATE' and new.content <> old.content then
    new.embedding := null;
    new.embedding_version_id := null;
  end if;

  if tg_op = 'INSERT'
    or (new.content, new.text_search_config, new.search_vector)
      is distinct from (old.content, old.text_search_config, old.search_vector)
  then
    v_rendered := memory.render_memory('rule', new.content);
    new.search_vector := memory.to_search_vector(new.text_search_config, v_rendered);
  end if;
  return new;
end;
$$;

comment on function memory.prepare_rule() is
'Trigger: fills in the times of imports, keeps the identity unchanged and the search vector up to '
'date, and clears the embedding when the content changes.';

create or replace function memory.render_entry(
  content text,
  tags jsonb,
  keywords jsonb
)
  returns text
  language sql
  immutable
  parallel safe
  return memory.render_memory(
    'entry',
    content || ' ' || (
      select coalesce(string_agg(w.word, ' '), '')
      from jsonb_array_elements_text(tags || keywords) as w (word) -- noqa: RF03
    )
  );

comment on function memory.render_entry(text, jsonb, jsonb) is
'The text of which the words of an entry are indexed: content, tags and keywords.';

create or replace function memory.prepare_entry()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
  set client_min_messages = warning -- no NOTICE about words too long to index
as $$
begin
  if tg_op = 'INSERT' then
    new.last_confirmed_at := coalesce(new.last_confirmed_at, new.created_at);
    if not memory.is_restoring() then
      new.updated_at := new.created_at;
    end if;
  else
    if (
      (new.tenant_id, new.id, new.entry_id, new.created_at, new.policy)
      is distinct from (old.tenant_id, old.id, old.entry_id, old.created_at, old.policy)
    ) then
      raise exception 'the identity of entry % cannot change', old.entry_id
        using errcode = 'PM006', hint = 'Create another entry, and delete this one.';
    end if;
  end if;

  -- A vector belongs to its text.
  if tg_op = 'UPDATE' and new.content <> old.content
    and new.embedding is not distinct from old.embedding
  then
    new.embedding := null;
    new.embedding_version_id := null;
  end if;

  if tg_op = 'INSERT'
    or (new.content, new.tags, new.keywords, new.text_search_config, new.search_vector)
      is distinct from
      (old.content, old.tags, old.keywords, old.text_search_config, old.search_vector)
  then
    new.title := memory.entry_title(new.content);
    new.search_vector := memory.to_search_vector(
      new.text_search_config,
      memory.render_entry(new.content, new.tags, new.keywords)
    );
  end if;
  return new;
end;
$$;

comment on function memory.prepare_entry() is
'Trigger: fills in the times of imports, keeps the identity unchanged, title and search vector up '
'to date, and clears the embedding when the content changes. Errors: PM006.';

-- What is left is derived from the content (title, search vector, embedding), counts references
-- (memory.keep_counters), or ends the entry: it expires once, and it is deleted and restored.
create or replace function memory.guard_entry()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if (
    (
      new.content, new.entry_type, new.category, new.tags, new.keywords, new.importance,
      new.confidence, new.decay_rate, new.source, new.trust, new.scope, new.user_id,
      new.persona_id, new.session_id, new.retention, new.version, new.edited_at,
      new.last_confirmed_at, new.decayed_at, new.expires_at, new.flagged_at, new.metadata,
      new.idempotency_key
    ) is distinct from (
      old.content, old.entry_type, old.category, old.tags, old.keywords, old.importance,
      old.confidence, old.decay_rate, old.source, old.trust, old.scope, old.user_id,
      old.persona_id, old.session_id, old.retention, old.version, old.edited_at,
      old.last_confirmed_at, old.decayed_at, old.expires_at, old.flagged_at, old.metadata,
      old.idempotency_key
    )
    or old.expired_at is not null and new.expired_at is distinct from old.expired_at
  ) then
    raise exception 'entry % is guarded: it is never changed', old.entry_id
      using errcode = 'PM008',
        hint = 'Write another entry with memory.write_memory, and delete this one.';
  end if;
  return new;
end;
$$;

comment on function memory.guard_entry() is
'Trigger: keeps all of a guarded entry unchanged; it can expire, once, and be deleted. Errors: '
'PM008.';

-- References to a guarded entry are not counted: reading it must not change it.
create or replace function memory.keep_counters()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  new.reference_count := old.reference_count;
  new.last_referenced_at := old.last_referenced_at;
  return new;
end;
$$;

comment on function memory.keep_counters() is
'Trigger: keeps the number and the time of references unchanged.';

create or replace function memory.comes_after(
  tenant_id text,
  fact_id uuid,
  earlier_id uuid
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  with recursive before as (
    select f.supersedes_id as id
    from memory.facts as f
    where f.tenant_id = comes_after.tenant_id and f.id = fact_id
    union
    select f.supersedes_id
    from before as b
    join memory.facts as f on f.tenant_id = comes_after.tenant_id and f.id = b.id
  )
  select exists (select from before as b where b.id = earlier_id);
$$;

comment on function memory.comes_after(text, uuid, uuid) is
'Whether a fact superseded another one, by itself or by way of others (supersedes_id).';

create or replace function memory.refuse_cycle()
  returns trigger
  language plpgsql
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.comes_after(new.tenant_id, new.id, new.id) then
    raise exception 'fact % cannot supersede fact %, which came after it',
      new.id, new.supersedes_id
      using errcode = 'PM003', hint = 'Leave the fact with the predecessor that it has.';
  end if;
  return null;
end;
$$;

comment on function memory.refuse_cycle() is
'Trigger: refuses a predecessor of a fact (supersedes_id) whose own predecessors lead back to it. '
'Errors: PM003.';

commit;
