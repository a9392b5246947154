-- Deploy pymem:functions/extras/entries/write_memory to pg

begin;

set local role memory_owner;

create or replace function memory.read_time(value text)
  returns timestamptz
  language plpgsql
  immutable
  parallel restricted -- it begins a subtransaction
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC'
as $$
begin
  if value ~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?( ?(Z|[+-]\d\d(:?\d\d)?))?)?$' then
    return value::timestamptz;
  end if;
  return null;
exception
  when
    invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value
  then
    return null;
end;
$$;

comment on function memory.read_time(text) is
'The time that a text names in the form of ISO 8601, in UTC unless it has an offset; NULL for '
'another text or a day that does not exist.';

create or replace function memory.guarded_confidence(
  confidence float8,
  decay_rate float8,
  last_confirmed_at timestamptz,
  as_of timestamptz
)
  returns float8
  language sql
  immutable
  parallel safe
  return memory.effective_confidence(
    confidence, decay_rate * (2 - confidence), last_confirmed_at, as_of
  );

comment on function memory.guarded_confidence(float8, float8, timestamptz, timestamptz) is
'Confidence of a guarded entry after decay. The lower the stored confidence, the faster it '
'decays: at confidence 0 twice as fast as at 1. The stored one never changes. Range '
'0..confidence.';

create or replace function memory.trace_memory(
  tenant_id text,
  event_type text,
  memory_id uuid,
  payload jsonb,
  reason text
)
  returns uuid
  language sql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  insert into memory.memory_events as e
    (tenant_id, event_type, memory_type, memory_id, payload, reason)
  values (
    trace_memory.tenant_id, trace_memory.event_type, 'entry', trace_memory.memory_id,
    trace_memory.payload, coalesce(trace_memory.reason, memory.current_reason())
  )
  returning e.id;
$$;

comment on function memory.trace_memory(text, text, uuid, jsonb, text) is
'Writes an event of memory.write_memory or memory.query_memory, and returns its id. reason: why '
'it was refused; NULL: the reason of the request.';

create or replace function memory.scope_of_entry(entry jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select jsonb_object_agg(
    k.key,
    case
      when jsonb_typeof(entry #> array['scope', k.key]) = 'string'
        and octet_length(entry #>> array['scope', k.key]) <= 128
      then entry #>> array['scope', k.key]
    end
  )
  from (values ('user_id'), ('persona_id'), ('session_id')) as k (key);
$$;

comment on function memory.scope_of_entry(jsonb) is
'The scope of an entry of memory.write_memory: user_id, persona_id and session_id, each NULL '
'unless it is a text of at most 128 bytes.';

create or replace function memory.number_of_entry(
  entry jsonb,
  path text[]
)
  returns float8
  language sql
  immutable
  parallel safe
  -- A number of JSON may be too large or too small for float8.
  return case
    when jsonb_typeof(entry #> path) = 'number' and (entry #>> path)::numeric between 0 and 1
    then round((entry #>> path)::numeric, 100)::float8
  end;

comment on function memory.number_of_entry(jsonb, text[]) is
'A number of an entry of memory.write_memory; NULL if it is none in 0..1.';

create or replace function memory.has_only_keys(
  value jsonb,
  keys text[]
)
  returns boolean
  language sql
  immutable
  parallel safe
  return coalesce(jsonb_typeof(value), 'null') = 'null'
  or jsonb_typeof(value) = 'object' and value - keys = '{}';

comment on function memory.has_only_keys(jsonb, text[]) is
'Whether JSON is missing, null, or an object without other keys than these.';

create or replace function memory.refusal_of_entry(
  entry jsonb,
  requested_by text,
  as_of timestamptz
)
  returns text
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_metadata jsonb := entry -> 'metadata';
  v_scope jsonb := entry -> 'scope';
  v_keywords jsonb := coalesce(nullif(entry #> '{retrieval,keywords}', 'null'), '[]');
  v_category text := v_metadata ->> 'category';
  v_created_at timestamptz := coalesce(memory.read_time(v_metadata ->> 'created_at'), as_of);
begin
  if jsonb_typeof(entry) is distinct from 'object'
    or not memory.has_only_keys(entry, '{id,content,scope,metadata,retrieval}')
    or not memory.has_only_keys(v_scope, '{user_id,persona_id,session_id}')
    or not memory.has_only_keys(
      v_metadata, '{category,confidence,importance,source,created_at,expires_at,sensitivity}'
    )
    or not memory.has_only_keys(entry -> 'retrieval', '{keywords,embedding_id}')
    or exists (
      select
      from (
        values
        (entry -> 'id', 128), (v_scope -> 'user_id', 128), (v_scope -> 'persona_id', 128),
        (v_scope -> 'session_id', 128), (v_metadata -> 'category', 128),
        (v_metadata -> 'sensitivity', 40), (v_metadata -> 'created_at', 40),
        (v_metadata -> 'expires_at', 40), (entry #> '{retrieval,embedding_id}', 128)
      ) as t (value, max_octets)
      where jsonb_typeof(t.value) <> 'null'
        and (
          jsonb_typeof(t.value) <> 'string'
          or memory.is_blank(t.value #>> '{}')
          or octet_length(t.value #>> '{}') > t.max_octets
        )
    )
    or jsonb_typeof(entry -> 'content') not in ('string', 'null')
    or jsonb_typeof(v_metadata -> 'confidence') not in ('number', 'null')
    or jsonb_typeof(v_metadata -> 'source') not in ('string', 'null')
    or jsonb_typeof(v_keywords) <> 'array'
    or v_keywords @? 'strict $[*] ? (@.type() != "string")'
    or octet_length(v_keywords::text) > 16384
    or (v_metadata ->> 'sensitivity') !~ '^[a-z][a-z0-9_]{0,39}$'
  then
    return 'malformed';
  end if;
  return case
    when requested_by is null or memory.is_blank(requested_by) or not memory.is_actor(requested_by)
    then 'not_requested'
    when entry ->> 'content' is null or memory.is_blank(entry ->> 'content') then 'content_empty'
    when octet_length(entry ->> 'content') > 1048576 then 'content_too_large'
    when coalesce(v_scope ->> 'user_id', v_scope ->> 'persona_id', v_scope ->> 'session_id') is null
    then 'scope_missing'
    when v_category is null then 'category_missing'
    when v_metadata ->> 'confidence' is null then 'confidence_missing'
    when memory.number_of_entry(entry, '{metadata,confidence}') is null
    then 'confidence_out_of_range'
    when v_metadata ->> 'importance' is null then 'importance_missing'
    when memory.importance_of(v_metadata ->> 'importance') is null then 'importance_invalid'
    when v_metadata ->> 'source' is null then 'source_missing'
    when v_metadata ->> 'source' not in ('user', 'system', 'tool') then 'source_invalid'
    when v_metadata ->> 'created_at' is not null
      and (memory.read_time(v_metadata ->> 'created_at') is null or v_created_at > as_of)
    then 'created_at_invalid'
    when v_metadata ->> 'expires_at' is not null
      and memory.read_time(v_metadata ->> 'expires_at') is null
    then 'expires_at_invalid'
    when memory.read_time(v_metadata ->> 'expires_at') <= as_of then 'expired'
  end;
end;
$$;

comment on function memory.refusal_of_entry(jsonb, text, timestamptz) is
'Why memory.write_memory does not store an entry, by its form alone: the code of the first '
'reason; NULL if there is none.';

create or replace function memory.classes_of_entry(
  tenant_id text,
  entry jsonb
)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select s.data_class
    from memory.find_sensitive(
      tenant_id,
      concat_ws(
        E'\n', entry ->> 'content', entry #>> '{metadata,category}', entry ->> 'id',
        entry #>> '{scope,user_id}', entry #>> '{scope,persona_id}', entry #>> '{scope,session_id}',
        (
          select string_agg(k.keyword, E'\n' order by k.position)
          from jsonb_array_elements_text(
            case jsonb_typeof(entry #> '{retrieval,keywords}')
              when 'array' then entry #> '{retrieval,keywords}'
              else '[]'
            end
          ) with ordinality as k (keyword, position)
        )
      )
    ) as s
    union
    select memory.find_label(tenant_id, entry #>> '{metadata,category}')
    union
    select nullif(entry #>> '{metadata,sensitivity}', 'none')
    except
    select null
    order by 1
  );
$$;

comment on function memory.classes_of_entry(text, jsonb) is
'The classes of sensitive content in an entry of memory.write_memory: what is found in its '
'content, category, keywords and ids, and what its category or sensitivity declares.';

create or replace function memory.write_memory(
  entry jsonb,
  requested_by text default null,
  approval_id uuid default null,
  embedding vector default null,
  embedding_version_id uuid default null,
  as_of timestamptz default now()
)
  returns table (
    status text,
    id uuid,
    entry_id text,
    reason text
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_scope jsonb := memory.scope_of_entry(entry);
  v_confidence float8 := memory.number_of_entry(entry, '{metadata,confidence}');
  v_key text := 'write_memory:' || (entry ->> 'id');
  v_created_at timestamptz;
  v_classes text[];
  v_approval memory.approvals;
  v_version_id uuid;
  v_first_id uuid;
  v_first_entry_id text;
  v_first_confidence float8;
  v_is_same boolean;
  v_trace jsonb;
begin
  perform memory.check_write_time('as_of', as_of);
  reason := memory.refusal_of_entry(entry, requested_by, as_of);
  if reason is null then
    v_created_at := coalesce(memory.read_time(entry #>> '{metadata,created_at}'), as_of);
    v_classes := memory.classes_of_entry(v_tenant_id, entry);
    v_version_id := memory.lock_embedding_version(
      v_tenant_id, write_memory.embedding, write_memory.embedding_version_id
    );
    -- Locks the numbers of the day: of two writes with one id, the second sees the first.
    entry_id := memory.next_entry_id(v_tenant_id, v_created_at);
    select
      e.id, e.entry_id, e.confidence,
      e.lifecycle_state = 'guarded' and (e.expires_at > write_memory.as_of) is not false
      and (e.content, e.user_id, e.persona_id, e.session_id) is not distinct from (
        entry ->> 'content', v_scope ->> 'user_id', v_scope ->> 'persona_id',
        v_scope ->> 'session_id'
      )
    into v_first_id, v_first_entry_id, v_first_confidence, v_is_same
    from memory.entries as e
    where e.tenant_id = v_tenant_id
      and e.id = any (array(
        select k.id
        from memory.entries as k
        where k.tenant_id = v_tenant_id and k.idempotency_key = v_key
        union all
        -- The id by which query_memory returned one that had none of its own.
        select n.id
        from memory.entries as n
        where n.tenant_id = v_tenant_id and n.entry_id = entry ->> 'id' and n.policy = 'billy'
      ))
    order by e.idempotency_key is not distinct from v_key desc, e.id
    limit 1;
    if v_is_same then
      id := v_first_id;
      entry_id := v_first_entry_id;
      v_confidence := v_first_confidence; -- nothing of the repetition is stored
    elsif v_first_id is not null then
      reason := 'id_taken';
    elsif cardinality(v_classes) > 0 and approval_id is null then
      reason := 'sensitive:' || v_classes[1];
    elsif cardinality(v_classes) > 0 then
      v_approval := memory.lock_approval(v_tenant_id, approval_id, 'write_sensitive', as_of);
      if v_approval.id is null
        or coalesce(v_approval.user_id <> v_scope ->> 'user_id', v_approval.user_id is not null)
        or coalesce(
          v_approval.persona_id <> v_scope ->> 'persona_id', v_approval.persona_id is not null
        )
        or coalesce(
          v_approval.session_id <> v_scope ->> 'session_id', v_approval.session_id is not null
        )
      then
        reason := 'approval_invalid';
      elsif v_approval.data_class <> '*' and v_classes <> array[v_approval.data_class] then
        reason := 'sensitive:' || (array_remove(v_classes, v_approval.data_class))[1];
      end if;
    end if;
  end if;

  status := case when reason is null then 'stored' else 'rejected' end;
  if reason is not null then
    entry_id := null;
  elsif id is null then
    id := gen_random_uuid();
  end if;
  -- What is not stored because it is sensitive is not traced either.
  if reason is not null and exists (
    select
    from memory.find_sensitive(
      v_tenant_id, (select string_agg(s.value, E'\n') from jsonb_each_text(v_scope) as s)
    )
  ) then
    v_scope := memory.scope_of_entry('{}');
  end if;
  v_trace := jsonb_build_object(
    'memory_id', id, 'entry_id', entry_id, 'scope', v_scope, 'confidence', v_confidence,
    'reason', reason
  );
  perform memory.trace_memory(
    v_tenant_id, 'memory_write_attempt', id,
    v_trace || jsonb_build_object(
      'requested_by', case when memory.is_actor(requested_by) then requested_by end,
      'classes', coalesce(to_jsonb(v_classes), '[]'),
      'approval_id', v_approval.id,
      'is_repeated', v_first_id is not null
    ),
    reason
  );
  if reason is not null or v_first_id is not null then
    return next;
    return;
  end if;

  insert into memory.entries (
    tenant_id, id, entry_id, content, category, keywords, importance, confidence, decay_rate,
    source, trust, policy, user_id, persona_id, session_id, expires_at, metadata, embedding,
    embedding_version_id, text_search_config, idempotency_key, created_at, edited_at
  )
  values (
    v_tenant_id, write_memory.id, write_memory.entry_id, entry ->> 'content',
    entry #>> '{metadata,category}',
    memory.clean_labels(coalesce(nullif(entry #> '{retrieval,keywords}', 'null'), '[]')),
    memory.importance_of(entry #>> '{metadata,importance}'), v_confidence,
    v_settings.entry_decay_rate, entry #>> '{metadata,source}',
    memory.trust_of_source(entry #>> '{metadata,source}'), 'billy', v_scope ->> 'user_id',
    v_scope ->> 'persona_id', v_scope ->> 'session_id',
    memory.read_time(entry #>> '{metadata,expires_at}'),
    jsonb_build_object('requested_by', requested_by, 'classes', v_classes), write_memory.embedding,
    v_version_id, v_settings.text_search_config, v_key, v_created_at, v_created_at
  );
  if v_approval.id is not null then
    perform memory.use_approval(v_tenant_id, v_approval.id, id, as_of);
  end if;
  perform memory.trace_memory(v_tenant_id, 'memory_write_success', id, v_trace, null);
  return next;
end;
$$;

comment on function memory.write_memory(jsonb, text, uuid, vector, uuid, timestamptz) is
'Stores a guarded entry (policy billy), or says why not: status stored, with its ids, or '
'rejected, with a reason. entry: {"content", "scope": {"user_id", "persona_id", "session_id"}, '
'"metadata": {"category", "confidence", "importance": "low", "medium" or "high", "source": '
'"user", "system" or "tool", "created_at", "expires_at", "sensitivity"}, "retrieval": '
'{"keywords"}, "id": writing again with the same id stores nothing}; nothing is inferred. '
'requested_by: who asked for it. approval_id: of memory.grant_approval, used up if the content is '
'sensitive. Content, policy and approvals raise no error: the trace of a rejected write stays '
'(memory_write_attempt). Errors: PM002 malformed vector or as_of, PM004 vector from another '
'embedding version.';
grant execute on function memory.write_memory to memory_writer;

commit;
