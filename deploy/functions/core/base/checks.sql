-- Deploy pymem:functions/core/base/checks to pg

begin;

set local role memory_owner;

-- Argument checks shared by the functions that store. Table constraints enforce the same rules;
-- these checks come first and add a hint. Each check is an expression that the planner inlines into
-- the calling statement, because a function call per argument would take longer than storing the
-- row. The refuse_ function beside it runs only on failure and raises the error.

create or replace function memory.refuse_text(
  name text,
  value text,
  max_octets integer
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if value is null or memory.is_blank(value) then
    raise exception '% is empty', name
      using errcode = 'PM002', hint = format('Pass %s with at least one visible character.', name);
  end if;
  raise exception '% is % bytes long', name, octet_length(value)
    using errcode = 'PM002',
      hint = format('Pass %s of at most %s bytes; split longer text.', name, max_octets);
end;
$$;

comment on function memory.refuse_text(text, text, integer) is
'Raises the error for an argument that fails check_text. Errors: PM002.';

create or replace function memory.check_text(
  name text,
  value text,
  max_octets integer
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when octet_length(value) <= max_octets and not memory.is_blank(value) then null
    else memory.refuse_text(name, value, max_octets)
  end;

comment on function memory.check_text(text, text, integer) is
'Rejects an empty or oversized text argument. Errors: PM002.';

create or replace function memory.check_model(
  name text,
  value text,
  max_octets integer
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_text(name, value, max_octets);
  if memory.has_invisible(value) then
    raise exception '% has control, direction or other invisible characters', name
      using errcode = 'PM002',
        hint = format('Pass %s as one line of visible characters and spaces.', name);
  end if;
end;
$$;

comment on function memory.check_model(text, text, integer) is
'Rejects the name or version of a model that is empty, oversized, or has control, direction or '
'other invisible characters (memory.has_invisible): commands and logs print it. Errors: PM002.';

create or replace function memory.refuse_scope(
  name text,
  value text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_text(name, value, 128);
  if value <> '*' then
    raise exception '% is %, which is not "global"', name, quote_literal(value)
      using errcode = 'PM002', hint = format('Pass %s in lower case.', name);
  end if;
  raise exception '% is "*"', name
    using errcode = 'PM002',
      hint = format('Pass another %s: "*" stands for all scopes where memories are read.', name);
end;
$$;

comment on function memory.refuse_scope(text, text) is
'Raises the error for an argument that fails check_scope. Errors: PM002.';

create or replace function memory.check_scope(
  name text,
  value text
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when memory.is_scope(value) and (value = 'global' or lower(value) <> 'global') then null
    else memory.refuse_scope(name, value)
  end;

comment on function memory.check_scope(text, text) is
'Rejects a scope or butler name that is empty, oversized, "*", or "global" in other letters. '
'Errors: PM002.';

create or replace function memory.refuse_number(
  name text,
  value float8,
  lowest float8,
  highest float8
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception '% is %', name, coalesce(value::text, 'NULL')
    using errcode = 'PM002', hint = format('Pass %s between %s and %s.', name, lowest, highest);
end;
$$;

comment on function memory.refuse_number(text, float8, float8, float8) is
'Raises the error for an argument that fails check_number. Errors: PM002.';

create or replace function memory.check_number(
  name text,
  value float8,
  lowest float8,
  highest float8
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when value between lowest and highest then null
    else memory.refuse_number(name, value, lowest, highest)
  end;

comment on function memory.check_number(text, float8, float8, float8) is
'Rejects a number outside its range; NaN is outside every range. Errors: PM002.';

create or replace function memory.refuse_word(
  name text,
  value text,
  words text[]
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'unknown %: %', name, quote_nullable(left(value, 100))
    using errcode = 'PM002', hint = format('Valid: %s.', array_to_string(words, ', '));
end;
$$;

comment on function memory.refuse_word(text, text, text[]) is
'Raises the error for an argument that fails check_word. Errors: PM002.';

create or replace function memory.check_word(
  name text,
  value text,
  words text[]
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when array_position(words, value) is not null then null
    else memory.refuse_word(name, value, words)
  end;

comment on function memory.check_word(text, text, text[]) is
'Rejects a word that is not in its list; the hint shows the list. Errors: PM002.';

create or replace function memory.refuse_tags(
  tags jsonb,
  whose text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if jsonb_typeof(tags) is distinct from 'array'
    or tags @? 'strict $[*] ? (@.type() != "string")'
  then
    raise exception 'tags% are not a JSON array of strings', whose
      using errcode = 'PM002', hint = 'Pass tags such as ["travel", "food"].';
  end if;
  raise exception 'tags% are % bytes long', whose, octet_length(tags::text)
    using errcode = 'PM002', hint = 'Pass tags of at most 16 KiB in total.';
end;
$$;

comment on function memory.refuse_tags(jsonb, text) is
'Raises the error for an argument that fails check_tags. Errors: PM002.';

create or replace function memory.check_tags(
  tags jsonb,
  whose text default ''
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when jsonb_typeof(tags) = 'array'
      and not tags @? 'strict $[*] ? (@.type() != "string")'
      and octet_length(tags::text) <= 16384
    then null
    else memory.refuse_tags(tags, whose)
  end;

comment on function memory.check_tags(jsonb, text) is
'Rejects tags that are not a JSON array of strings of at most 16 KiB. whose, such as " of fact 3", '
'says in the message which of several tags are meant. Errors: PM002.';

create or replace function memory.is_deep(value jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return value @? 'strict $.**{65}';

comment on function memory.is_deep(jsonb) is
'Whether objects and arrays in a JSON value are nested more than 64 levels deep. Clients read JSON '
'recursively, and could not read it.';

create or replace function memory.refuse_object(
  name text,
  value jsonb
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if jsonb_typeof(value) is distinct from 'object' then
    raise exception '% is not a JSON object', name
      using errcode = 'PM002', hint = format('Pass %s such as {"source": "email"}.', name);
  end if;
  if memory.is_deep(value) then
    raise exception '% is nested more than 64 levels deep', name
      using errcode = 'PM002', hint = format('Pass %s with fewer levels.', name);
  end if;
  raise exception '% is % bytes long', name, octet_length(value::text)
    using errcode = 'PM002', hint = format('Pass %s of at most 64 KiB.', name);
end;
$$;

comment on function memory.refuse_object(text, jsonb) is
'Raises the error for an argument that fails check_object. Errors: PM002.';

create or replace function memory.check_object(
  name text,
  value jsonb
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when jsonb_typeof(value) = 'object'
      and octet_length(value::text) <= 65536
      and not memory.is_deep(value)
    then null
    else memory.refuse_object(name, value)
  end;

comment on function memory.check_object(text, jsonb) is
'Rejects JSON that is not an object of at most 64 KiB and 64 levels. Errors: PM002.';

create or replace function memory.refuse_metadata(
  metadata jsonb,
  reserved text[],
  whose text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_object('metadata' || whose, metadata);
  raise exception 'metadata% uses a reserved key', whose
    using errcode = 'PM002',
      hint = format(
        'The lifecycle keeps its state under: %s. Choose another key.',
        array_to_string(reserved, ', ')
      );
end;
$$;

comment on function memory.refuse_metadata(jsonb, text[], text) is
'Raises the error for an argument that fails check_metadata. Errors: PM002.';

create or replace function memory.check_metadata(
  metadata jsonb,
  reserved text[] default '{}',
  whose text default ''
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when jsonb_typeof(metadata) = 'object'
      and octet_length(metadata::text) <= 65536
      and not memory.is_deep(metadata)
      and not metadata ?| reserved
    then null
    else memory.refuse_metadata(metadata, reserved, whose)
  end;

comment on function memory.check_metadata(jsonb, text[], text) is
'Rejects metadata that is not a JSON object of at most 64 KiB and 64 levels or uses a reserved '
'key; whose as in check_tags. Errors: PM002.';

create or replace function memory.refuse_time(
  name text,
  value timestamptz
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception '% is %', name, coalesce(value::text, 'NULL')
    using errcode = 'PM002', hint = format('Pass %s as a finite timestamp.', name);
end;
$$;

comment on function memory.refuse_time(text, timestamptz) is
'Raises the error for an argument that fails check_time. Errors: PM002.';

create or replace function memory.check_time(
  name text,
  value timestamptz
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when isfinite(value) then null
    else memory.refuse_time(name, value)
  end;

comment on function memory.check_time(text, timestamptz) is
'Rejects a NULL or infinite time. Errors: PM002.';

create or replace function memory.refuse_write_time(
  name text,
  value timestamptz
)
  returns void
  language plpgsql
  stable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_time(name, value);
  raise exception '% lies in the future: %', name, value
    using errcode = 'PM002',
      hint = format('Pass %s at most a day ahead; only pure functions accept later times.', name);
end;
$$;

comment on function memory.refuse_write_time(text, timestamptz) is
'Raises the error for an argument that fails check_write_time. Errors: PM002.';

create or replace function memory.check_write_time(
  name text,
  value timestamptz
)
  returns void
  language sql
  stable
  parallel safe
  return case
    when isfinite(value) and value <= now() + interval '1 day' then null
    else memory.refuse_write_time(name, value)
  end;

comment on function memory.check_write_time(text, timestamptz) is
'Rejects a time that cannot be stored: NULL, infinite or more than a day ahead. Errors: PM002.';

create or replace function memory.refuse_expiry(
  expires_at timestamptz,
  as_of timestamptz
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_time('expires_at', expires_at);
  raise exception 'expires_at lies in the past: %', expires_at
    using errcode = 'PM002', hint = format('Pass a time after %s, or none.', as_of);
end;
$$;

comment on function memory.refuse_expiry(timestamptz, timestamptz) is
'Raises the error for an argument that fails check_expiry. Errors: PM002.';

create or replace function memory.check_expiry(
  expires_at timestamptz,
  as_of timestamptz
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when expires_at is null or isfinite(expires_at) and expires_at > as_of then null
    else memory.refuse_expiry(expires_at, as_of)
  end;

comment on function memory.check_expiry(timestamptz, timestamptz) is
'Rejects an expiry that is infinite or not after as_of; NULL is valid. Errors: PM002.';

create or replace function memory.refuse_interval(
  valid_from timestamptz,
  valid_to timestamptz,
  whose text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_time('valid_from' || whose, valid_from);
  perform memory.check_time('valid_to' || whose, valid_to);
  raise exception 'valid_to% lies before valid_from: % < %', whose, valid_to, valid_from
    using errcode = 'PM002',
      hint = 'Omit valid_to while the fact holds; if it ended in the past, pass valid_from too.';
end;
$$;

comment on function memory.refuse_interval(timestamptz, timestamptz, text) is
'Raises the error for an argument that fails check_interval. Errors: PM002.';

create or replace function memory.check_interval(
  valid_from timestamptz,
  valid_to timestamptz,
  whose text default ''
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when isfinite(valid_from)
      and (valid_to is null or isfinite(valid_to) and valid_from <= valid_to)
    then null
    else memory.refuse_interval(valid_from, valid_to, whose)
  end;

comment on function memory.check_interval(timestamptz, timestamptz, text) is
'Rejects an interval that is not finite or ends before it begins; an open end (NULL) is valid. '
'Errors: PM002.';

create or replace function memory.check_elements(
  name text,
  elements jsonb,
  types jsonb
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad record;
  v_time record;
begin
  if jsonb_typeof(elements) is distinct from 'array' then
    raise exception '%s are not a JSON array', name
      using errcode = 'PM002', hint = format('Pass an array of objects, one per %s.', name);
  end if;

  select a.ordinal, k.key, k.value, types ->> k.key as type into v_bad
  from jsonb_array_elements(elements) with ordinality as a (element, ordinal)
  left join lateral jsonb_each(
    case jsonb_typeof(a.element) when 'object' then a.element end
  ) as k on true
  where jsonb_typeof(a.element) <> 'object'
    or k.key is not null and (
      types ->> k.key is null
      or jsonb_typeof(k.value) <> 'null' and case types ->> k.key
        when 'uuid' then
          (k.value #>> '{}') !~ '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$'
        when 'time' then jsonb_typeof(k.value) <> 'string'
        else jsonb_typeof(k.value) <> types ->> k.key
      end
    )
  order by a.ordinal, k.key
  limit 1;
  if not found then
    -- PostgreSQL 15 has no other way to learn whether a text is a time.
    begin
      for v_time in
        select a.ordinal, k.key, k.value
        from jsonb_array_elements(elements) with ordinality as a (element, ordinal)
        cross join lateral jsonb_each_text(a.element) as k
        where types ->> k.key = 'time' and k.value is not null
        order by a.ordinal, k.key
      loop
        perform v_time.value::timestamptz;
      end loop;
      return;
    exception
      when data_exception then
        raise exception '% of % % is %', v_time.key, name, v_time.ordinal,
          to_jsonb(left(v_time.value, 100))
          using errcode = 'PM002',
            hint = format('Pass %s as a time, such as "2026-03-01T09:30:00Z".', v_time.key);
    end;
  end if;
  if v_bad.key is null then
    raise exception '% % is not a JSON object', name, v_bad.ordinal
      using errcode = 'PM002', hint = format('Pass each %s as an object.', name);
  end if;
  if v_bad.type is null then
    raise exception '% % has the unknown key %', name, v_bad.ordinal, to_jsonb(left(v_bad.key, 100))
      using errcode = 'PM002',
        hint = 'Valid: ' || (
          select string_agg(k.key, ', ' order by k.key) from jsonb_object_keys(types) as k (key)
        ) || '.';
  end if;
  raise exception '% of % % is %', v_bad.key, name, v_bad.ordinal, left(v_bad.value::text, 100)
    using errcode = 'PM002',
      hint = format(
        'Pass %s as %s.', v_bad.key,
        case v_bad.type
          when 'uuid' then 'the text of a UUID'
          when 'time' then 'the text of a time'
          else 'a JSON ' || v_bad.type
        end
      );
end;
$$;

comment on function memory.check_elements(text, jsonb, jsonb) is
'Rejects a batch that is not a JSON array of objects, or that has an unknown key or a value of '
'another type than types says: string, number, array, object, uuid or time (strings); null is '
'valid. '
'The message gives the number of the element, from 1. Errors: PM002.';

create or replace function memory.refuse_idempotency_key(
  idempotency_key text,
  whose text
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'idempotency_key% is % bytes long', whose, octet_length(idempotency_key)
    using errcode = 'PM002', hint = 'Pass an idempotency_key of 1 to 200 bytes, or none.';
end;
$$;

comment on function memory.refuse_idempotency_key(text, text) is
'Raises the error for an argument that fails check_idempotency_key. Errors: PM002.';

create or replace function memory.check_idempotency_key(
  idempotency_key text,
  whose text default ''
)
  returns void
  language sql
  immutable
  parallel safe
  return case
    when idempotency_key is null or octet_length(idempotency_key) between 1 and 200 then null
    else memory.refuse_idempotency_key(idempotency_key, whose)
  end;

comment on function memory.check_idempotency_key(text, text) is
'Rejects an empty or oversized idempotency key; NULL is valid; whose as in check_tags. Errors: '
'PM002.';

create or replace function memory.refuse_reused_key(idempotency_key text)
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
'Raises PM004: an idempotency key was reused with other content.';

create or replace function memory.refuse_unknown_rule(rule_id uuid)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'no rule has id %', coalesce(rule_id::text, 'NULL')
    using errcode = 'PM001', hint = 'Find rules with memory.search(query, types => ''{rule}'').';
end;
$$;

comment on function memory.refuse_unknown_rule(uuid) is
'Raises the error for a rule that does not exist. Errors: PM001.';

create or replace function memory.refuse_guarded(
  memory_type text,
  memory_id uuid
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception '% % is guarded', memory_type, memory_id
    using errcode = 'PM008',
      hint = 'Read it with memory.query_memory, in the scope that it belongs to.';
end;
$$;

comment on function memory.refuse_guarded(text, uuid) is
'Raises the error for a memory that only memory.query_memory shows. Errors: PM008.';

create or replace function memory.check_source(
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
    perform memory.check_scope('source_butler', source_butler);
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
'Rejects an invalid name of a source butler, or a source episode that does not exist. Errors: '
'PM002, PM001.';

commit;
