-- Deploy pymem:functions/core/store/store_entries to pg

begin;

set local role memory_owner;

create or replace function memory.entry_id_of(day date, number integer)
  returns text
  language sql
  stable
  parallel safe
  return format(
    'mem-%s-%s', to_char(day, 'YYYY-MM-DD'),
    case when number < 1000 then to_char(number, 'FM000') else number::text end
  );

comment on function memory.entry_id_of(date, integer) is
'The id mem-YYYY-MM-DD-NNN of the entry with a number on a day; the number has three digits or '
'more.';

create or replace function memory.next_entry_id(
  tenant_id text,
  created_at timestamptz
)
  returns text
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  -- The lock on the row of the day makes concurrent creators take turns.
  insert into memory.entry_numbers as n (tenant_id, day, last_number)
  values (next_entry_id.tenant_id, (next_entry_id.created_at at time zone 'UTC')::date, 1)
  on conflict (tenant_id, day) do update set last_number = n.last_number + 1
  returning memory.entry_id_of(n.day, n.last_number);
$$;

comment on function memory.next_entry_id(text, timestamptz) is
'A new id: of the day in UTC, with its next number. Numbers of transactions that are rolled back '
'are given again.';

create or replace function memory.find_entry(
  tenant_id text,
  entry_id text
)
  returns uuid
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_id uuid;
begin
  if entry_id ~ '^mem-\d{4}-\d\d-\d\d-\d{3,9}$' then
    select e.id into v_id
    from memory.entries as e
    where e.tenant_id = find_entry.tenant_id and e.entry_id = find_entry.entry_id;
    return v_id;
  end if;
  if entry_id is null
    or entry_id !~* '^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$'
  then
    raise exception 'not the id of an entry: %', quote_nullable(left(entry_id, 100))
      using errcode = 'PM002',
        hint = 'Pass an id such as mem-2026-03-01-001, or the uuid of the entry.';
  end if;
  select e.id into v_id
  from memory.entries as e
  where e.tenant_id = find_entry.tenant_id and e.id = find_entry.entry_id::uuid;
  return v_id;
end;
$$;

comment on function memory.find_entry(text, text) is
'The uuid of the entry that an id of either form names; NULL if there is none. Errors: PM002.';

create or replace function memory.get_entry_uuid(entry_id text)
  returns uuid
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.find_entry(memory.current_tenant(), entry_id);
$$;

comment on function memory.get_entry_uuid(text) is
'The uuid of an entry, for functions that take one, from an id such as mem-2026-03-01-001; NULL if '
'there is none. Errors: PM002 malformed id.';
grant execute on function memory.get_entry_uuid
to memory_writer, memory_worker, memory_reader, memory_admin;

create or replace function memory.require_entry(
  tenant_id text,
  entry_id text
)
  returns uuid
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_id uuid := memory.find_entry(tenant_id, entry_id);
begin
  if v_id is null then
    raise exception 'no entry has id %', entry_id
      using errcode = 'PM001', hint = 'Find ids with memory.query.';
  end if;
  return v_id;
end;
$$;

comment on function memory.require_entry(text, text) is
'The uuid of an entry. Errors: PM001 unknown, PM002 malformed id.';

create or replace function memory.relate_entries(
  tenant_id text,
  id uuid,
  related text[]
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_related uuid[];
  v_removed boolean;
begin
  if cardinality(related) > 1000 then
    raise exception '% related entries', cardinality(related)
      using errcode = 'PM002', hint = 'Pass at most 1000 ids.';
  end if;
  v_related := array(
    select distinct memory.require_entry(tenant_id, r.entry_id)
    from unnest(related) as r (entry_id)
    order by 1
  );
  if relate_entries.id = any (v_related) then
    raise exception 'an entry cannot be related to itself'
      using errcode = 'PM002', hint = 'Leave its own id out of related.';
  end if;
  -- Who takes the list from memory.get_entry cannot name a deleted entry: it may be restored.
  delete from memory.memory_links as l
  using memory.entries as e
  where l.tenant_id = relate_entries.tenant_id
    and l.source_type = 'entry' and l.source_id = relate_entries.id
    and l.target_type = 'entry' and l.relation = 'related_to'
    and l.target_id <> all (v_related)
    and e.tenant_id = l.tenant_id and e.id = l.target_id and e.deleted_at is null;
  v_removed := found;
  -- A pair that is linked otherwise keeps its relation.
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select relate_entries.tenant_id, 'entry', relate_entries.id, 'entry', r.id, 'related_to'
  from unnest(v_related) as r (id)
  order by r.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;
  return v_removed or found;
end;
$$;

comment on function memory.relate_entries(text, uuid, text[]) is
'Makes these, and no others, the entries that an entry names as related: links related_to. A pair '
'that is linked otherwise keeps its relation, and a link to a deleted entry stays, in case it is '
'restored. Returns whether that changed any. Errors: PM001 unknown id, PM002.';

create or replace function memory.policy_of(
  tenant_id text,
  scope text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (
      select p.policy
      from memory.entry_policies as p
      where p.tenant_id = policy_of.tenant_id and p.scope in (policy_of.scope, '*')
      order by p.scope = '*'
      limit 1
    ),
    'meridian'
  );
$$;

comment on function memory.policy_of(text, text) is
'The policy of a scope: that of its own, else that of the tenant, else meridian.';

create or replace function memory.trust_of_source(source text)
  returns text
  language sql
  immutable
  parallel safe
  return case source
    when 'user' then 'user' when 'tool' then 'tool' when 'import' then 'external' else 'agent'
  end;

comment on function memory.trust_of_source(text) is
'Whose statement an entry of this source is, as for episodes: user, agent, tool or external.';

create or replace function memory.check_unguarded(entry memory.entries)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if entry.policy = 'billy' then
    raise exception 'entry % is guarded: it is never changed', entry.entry_id
      using errcode = 'PM008',
        hint = 'Write another entry with memory.write_memory, and delete this one.';
  end if;
end;
$$;

comment on function memory.check_unguarded(memory.entries) is
'Refuses to change an entry of policy billy. Errors: PM008.';

create or replace function memory.check_present(entry memory.entries)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if entry.lifecycle_state in ('retracted', 'expired') then
    raise exception 'entry % is %', entry.entry_id,
      case entry.lifecycle_state when 'retracted' then 'deleted' else 'expired' end
      using errcode = 'PM003', hint = 'Restore it first with memory.restore_memory.';
  end if;
end;
$$;

comment on function memory.check_present(memory.entries) is
'Refuses to change an entry that was deleted or has expired. Errors: PM003.';

create or replace function memory.is_entry_consolidation_due(
  tenant_id text,
  as_of timestamptz
)
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- A variable: row security would apply a condition on a subquery only to rows that were read.
  v_since timestamptz := coalesce(
    (
      select c.finished_at
      from memory.entry_consolidations as c
      where c.tenant_id = is_entry_consolidation_due.tenant_id
      order by c.finished_at desc, c.id
      limit 1
    ),
    (
      -- Before the first run, time counts from the first entry.
      select e.created_at - interval '1 microsecond'
      from memory.entries as e
      where e.tenant_id = is_entry_consolidation_due.tenant_id and e.policy = 'meridian'
      order by e.created_at, e.id
      limit 1
    )
  );
begin
  return exists (
    select
    from memory.entries as e
    where e.tenant_id = is_entry_consolidation_due.tenant_id
      and e.created_at > v_since and e.lifecycle_state = 'active'
    order by e.created_at, e.id
    offset case when v_since <= as_of - interval '24 hours' then 0 else 99 end
    limit 1
  );
end;
$$;

comment on function memory.is_entry_consolidation_due(text, timestamptz) is
'Whether 100 entries are new since the last consolidation of entries, or any after 24 hours.';

create or replace function memory.create_entry(
  content text,
  entry_type text default 'note',
  tags jsonb default '[]',
  confidence float8 default null,
  related text[] default '{}',
  source text default 'interaction',
  category text default null,
  keywords jsonb default '[]',
  importance float8 default 5.0,
  scope text default 'global',
  user_id text default null,
  persona_id text default null,
  session_id text default null,
  expires_at timestamptz default null,
  metadata jsonb default '{}',
  embedding vector default null,
  embedding_version_id uuid default null,
  idempotency_key text default null,
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    entry_id text,
    title text,
    stored_confidence float8,
    version integer,
    created boolean,
    consolidation_due boolean
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_scope text := memory.collapse_whitespace(create_entry.scope);
  v_version_id uuid;
begin
  perform
    memory.check_text('content', create_entry.content, 1048576),
    memory.check_word('entry_type', create_entry.entry_type, '{fact,preference,pattern,note}'),
    memory.check_word(
      'source', create_entry.source, '{user,system,tool,interaction,import,derived}'
    ),
    memory.check_tags(create_entry.tags),
    memory.check_tags(create_entry.keywords, ' (keywords)'),
    memory.check_number('confidence', coalesce(create_entry.confidence, 0), 0, 1),
    memory.check_number('importance', create_entry.importance, 0, 10),
    memory.check_scope('scope', v_scope),
    memory.check_metadata(create_entry.metadata),
    memory.check_idempotency_key(create_entry.idempotency_key),
    memory.check_write_time('as_of', as_of),
    memory.check_expiry(create_entry.expires_at, as_of);
  perform memory.check_text(n.name, n.value, 128)
  from (
    values
    ('category', create_entry.category), ('user_id', create_entry.user_id),
    ('persona_id', create_entry.persona_id), ('session_id', create_entry.session_id)
  ) as n (name, value)
  where n.value is not null;
  if memory.policy_of(v_tenant_id, v_scope) = 'billy' then
    raise exception 'entries of scope % are written on explicit request only', quote_literal(v_scope)
      using errcode = 'PM008', hint = 'Call memory.write_memory, which checks and traces the write.';
  end if;

  select e.id, e.entry_id, e.title, e.confidence, e.version
  into id, entry_id, title, stored_confidence, version
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.idempotency_key = create_entry.idempotency_key;
  if not found then
    v_version_id := memory.lock_embedding_version(
      v_tenant_id, create_entry.embedding, create_entry.embedding_version_id
    );
    insert into memory.entries as e (
      tenant_id, entry_id, content, entry_type, category, tags, keywords, importance, confidence,
      source, trust, scope, user_id, persona_id, session_id, expires_at, metadata, embedding,
      embedding_version_id, text_search_config, idempotency_key, created_at, edited_at
    )
    values (
      v_tenant_id, memory.next_entry_id(v_tenant_id, as_of), create_entry.content,
      create_entry.entry_type, create_entry.category, memory.clean_labels(create_entry.tags),
      memory.clean_labels(create_entry.keywords), create_entry.importance,
      coalesce(
        create_entry.confidence,
        memory.initial_confidence(
          create_entry.source,
          is_vague => memory.sounds_vague(create_entry.content),
          is_repeated => create_entry.source = 'user' and exists (
            select
            from memory.entries as o
            where o.tenant_id = v_tenant_id and o.lifecycle_state = 'active'
              and md5(o.content) = md5(create_entry.content) and o.scope = v_scope
              and o.user_id is not distinct from create_entry.user_id
          )
        )
      ),
      create_entry.source, memory.trust_of_source(create_entry.source), v_scope,
      create_entry.user_id, create_entry.persona_id, create_entry.session_id,
      create_entry.expires_at, create_entry.metadata, create_entry.embedding, v_version_id,
      memory.text_search_config_of(v_tenant_id), create_entry.idempotency_key, as_of, as_of
    )
    on conflict (tenant_id, idempotency_key) where idempotency_key is not null do nothing
    returning e.id, e.entry_id, e.title, e.confidence, e.version
    into id, entry_id, title, stored_confidence, version;
    created := found;
    if created then
      perform memory.relate_entries(v_tenant_id, id, create_entry.related);
    else
      select e.id, e.entry_id, e.title, e.confidence, e.version
      into id, entry_id, title, stored_confidence, version
      from memory.entries as e
      where e.tenant_id = v_tenant_id and e.idempotency_key = create_entry.idempotency_key;
    end if;
  end if;
  created := coalesce(created, false);
  if not created and not exists (
    select
    from memory.entries as e
    where e.tenant_id = v_tenant_id and e.id = create_entry.id and e.version = 1
      and (e.content, e.scope) = (create_entry.content, v_scope)
    union all
    -- Edited since: its first content is in the history.
    select
    from memory.memory_history as h
    where h.tenant_id = v_tenant_id and h.memory_type = 'entry' and h.memory_id = create_entry.id
      and h.image ->> 'content' = create_entry.content and h.image ->> 'scope' = v_scope
  ) then
    perform memory.refuse_reused_key(create_entry.idempotency_key);
  end if;
  consolidation_due := memory.is_entry_consolidation_due(v_tenant_id, as_of);
  return next;
end;
$$;

comment on function memory.create_entry(
  text, text, jsonb, float8, text[], text, text, jsonb, float8, text, text, text, text, timestamptz,
  jsonb, vector, uuid, text, timestamptz
) is
'Stores a memory in Markdown and returns its ids, its title and whether memory.consolidate_entries '
'is due. entry_type: fact, preference, pattern or note. confidence, 0..1: NULL is that of its '
'source (memory.initial_confidence). related: ids of other entries, either form. importance: 0..10 '
'(memory.importance_of for low, medium, high). expires_at: from when it is no longer found. '
'Creating again with the same idempotency_key returns the first entry. Errors: PM002 invalid '
'argument, PM001 unknown related entry, PM004 key used for another entry, PM008 the policy of the '
'scope demands memory.write_memory.';
grant execute on function memory.create_entry to memory_writer;

create or replace function memory.kept_metadata(metadata jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  return jsonb_strip_nulls(jsonb_build_object(
    'file', metadata -> 'file', 'missing_related', metadata -> 'missing_related'
  ));

comment on function memory.kept_metadata(jsonb) is
'What imports keep in the metadata of an entry, and no update takes away: of the file that it '
'came from, the front matter, the path and memory.entry_file_mark; and the ids of related entries '
'that do not exist.';

create or replace function memory.update_entry(
  entry_id text,
  content text default null,
  entry_type text default null,
  tags jsonb default null,
  confidence float8 default null,
  related text[] default null,
  category text default null,
  keywords jsonb default null,
  importance float8 default null,
  expires_at timestamptz default null,
  metadata jsonb default null,
  expected_version integer default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns table (
    id uuid,
    current_id text,
    title text,
    stored_confidence float8,
    version integer,
    content_changed boolean
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_entry memory.entries;
  v_edited memory.entries;
  v_related_changed boolean := false;
  v_version_id uuid;
begin
  perform
    case
      when update_entry.content is not null
      then memory.check_text('content', update_entry.content, 1048576)
    end,
    memory.check_word(
      'entry_type', coalesce(update_entry.entry_type, 'note'), '{fact,preference,pattern,note}'
    ),
    memory.check_tags(coalesce(update_entry.tags, '[]')),
    memory.check_tags(coalesce(update_entry.keywords, '[]'), ' (keywords)'),
    memory.check_number('confidence', coalesce(update_entry.confidence, 0), 0, 1),
    memory.check_number('importance', coalesce(update_entry.importance, 0), 0, 10),
    memory.check_metadata(coalesce(update_entry.metadata, '{}')),
    memory.check_write_time('as_of', as_of),
    case
      when update_entry.category <> ''
      then memory.check_text('category', update_entry.category, 128)
    end,
    case
      when update_entry.expires_at < 'infinity'
      then memory.check_expiry(update_entry.expires_at, as_of)
    end;
  id := memory.require_entry(v_tenant_id, update_entry.entry_id);
  v_version_id := memory.lock_embedding_version(
    v_tenant_id, update_entry.embedding, update_entry.embedding_version_id
  );

  select e.* into v_entry
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = update_entry.id
  for no key update;
  if v_entry.version <> update_entry.expected_version then
    raise exception 'entry % has version %, not %',
      v_entry.entry_id, v_entry.version, update_entry.expected_version
      using errcode = 'PM004',
        hint = format(
          'It was changed since you read it: read version %s, and repeat your change on that.',
          v_entry.version
        );
  end if;
  perform memory.check_present(v_entry);
  perform memory.check_unguarded(v_entry);
  perform memory.check_after_creation(v_tenant_id, 'entry', id, as_of);

  current_id := v_entry.entry_id;
  content_changed := coalesce(update_entry.content <> v_entry.content, false);
  if update_entry.related is not null then
    v_related_changed := memory.relate_entries(v_tenant_id, id, update_entry.related);
  end if;

  v_edited := v_entry;
  v_edited.content := coalesce(update_entry.content, v_entry.content);
  v_edited.entry_type := coalesce(update_entry.entry_type, v_entry.entry_type);
  if update_entry.category is not null then
    v_edited.category := nullif(update_entry.category, '');
  end if;
  v_edited.tags := coalesce(memory.clean_labels(update_entry.tags), v_entry.tags);
  v_edited.keywords := coalesce(memory.clean_labels(update_entry.keywords), v_entry.keywords);
  v_edited.confidence := coalesce(update_entry.confidence, v_entry.confidence);
  v_edited.importance := coalesce(update_entry.importance, v_entry.importance);
  if update_entry.expires_at is not null then
    v_edited.expires_at := nullif(update_entry.expires_at, 'infinity');
  end if;
  v_edited.metadata := coalesce(
    update_entry.metadata || memory.kept_metadata(v_entry.metadata), v_entry.metadata
  );

  if v_related_changed or v_edited is distinct from v_entry then
    update memory.entries as e
    set
      content = v_edited.content,
      entry_type = v_edited.entry_type,
      category = v_edited.category,
      tags = v_edited.tags,
      keywords = v_edited.keywords,
      confidence = v_edited.confidence,
      importance = v_edited.importance,
      expires_at = v_edited.expires_at,
      metadata = v_edited.metadata,
      embedding = case
        when update_entry.embedding is not null then update_entry.embedding
        when not content_changed then e.embedding
      end,
      embedding_version_id = case
        when update_entry.embedding is not null then v_version_id
        when not content_changed then e.embedding_version_id
      end,
      retention = 'active',
      flagged_at = null,
      edited_at = greatest(e.edited_at, as_of),
      version = e.version + 1,
      updated_at = memory.next_state_at(e.updated_at, as_of)
    where e.tenant_id = v_tenant_id and e.id = v_entry.id;
  end if;
  if content_changed and update_entry.embedding is not null then
    delete from memory.embedding_queue as q
    where q.tenant_id = v_tenant_id and q.target = 'active' and q.memory_type = 'entry'
      and q.memory_id = v_entry.id
      -- The vector of the old text is not that of the new one (memory.prepare_entry).
      and exists (
        select
        from memory.entries as e
        where e.tenant_id = v_tenant_id and e.id = v_entry.id and e.embedding is not null
      );
  end if;

  return query
  select e.id, e.entry_id, e.title, e.confidence, e.version, update_entry.content_changed
  from memory.entries as e
  where e.tenant_id = v_tenant_id and e.id = v_entry.id;
end;
$$;

comment on function memory.update_entry(
  text, text, text, jsonb, float8, text[], text, jsonb, float8, timestamptz, jsonb, integer, vector,
  uuid, timestamptz
) is
'Edits an entry: what is NULL stays; content, tags, keywords, related and metadata are replaced '
'whole; category '''' and expires_at ''infinity'' clear them. The version before is kept in the '
'history. The entry is embedded again only if its content changed; it becomes active and is no '
'longer flagged for review. An update that changes nothing makes no version. expected_version: the '
'version that the caller has read. Errors: PM001 unknown id, PM002 invalid argument, PM003 deleted '
'or expired, PM004 another version, PM008 guarded.';
grant execute on function memory.update_entry to memory_writer;

commit;
