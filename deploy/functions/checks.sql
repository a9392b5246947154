-- Deploy pymem:functions/checks to pg
-- requires: tables/links

begin;

set local role memory_owner;

-- Argument checks shared by the functions that store. Constraints of the tables say the same again;
-- these say it first, with a hint.

create function memory.check_text(
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
  if value is null or memory.collapse_whitespace(value) = '' then
    raise exception '% is empty', name
      using errcode = 'PM002', hint = format('Pass %s with at least one visible character.', name);
  end if;
  if octet_length(value) > max_octets then
    raise exception '% is % octets long', name, octet_length(value)
      using errcode = 'PM002',
        hint = format('Pass %s of at most %s octets; split longer text.', name, max_octets);
  end if;
end;
$$;

comment on function memory.check_text(text, text, integer) is
'Refuses an empty or oversized text argument. Errors: PM002.';

create function memory.check_number(
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
  if value is null or value not between lowest and highest then
    raise exception '% is %', name, coalesce(value::text, 'NULL')
      using errcode = 'PM002', hint = format('Pass %s between %s and %s.', name, lowest, highest);
  end if;
end;
$$;

comment on function memory.check_number(text, float8, float8, float8) is
'Refuses a number outside its range; NaN is outside every range. Errors: PM002.';

create function memory.check_word(
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
  if value is null or value <> all (words) then
    raise exception 'unknown %: %', name, quote_nullable(left(value, 100))
      using errcode = 'PM002', hint = format('Valid: %s.', array_to_string(words, ', '));
  end if;
end;
$$;

comment on function memory.check_word(text, text, text[]) is
'Refuses a word outside its list; the hint names the list. Errors: PM002.';

create function memory.check_tags(tags jsonb)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if jsonb_typeof(tags) is distinct from 'array' or tags @? '$[*] ? (@.type() != "string")' then
    raise exception 'tags are not a JSON array of strings'
      using errcode = 'PM002', hint = 'Pass tags such as ["travel", "food"].';
  end if;
  if octet_length(tags::text) > 16384 then
    raise exception 'tags are % octets long', octet_length(tags::text)
      using errcode = 'PM002', hint = 'Pass tags of at most 16 KiB in all.';
  end if;
end;
$$;

comment on function memory.check_tags(jsonb) is
'Refuses tags that are no JSON array of strings of at most 16 KiB. Errors: PM002.';

create function memory.check_object(
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
  if octet_length(value::text) > 65536 then
    raise exception '% is % octets long', name, octet_length(value::text)
      using errcode = 'PM002', hint = format('Pass %s of at most 64 KiB.', name);
  end if;
end;
$$;

comment on function memory.check_object(text, jsonb) is
'Refuses JSON that is no object of at most 64 KiB. Errors: PM002.';

create function memory.check_metadata(
  metadata jsonb,
  reserved text[] default '{}'
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_object('metadata', metadata);
  if metadata ?| reserved then
    raise exception 'metadata uses a reserved key'
      using errcode = 'PM002',
        hint = format(
          'The lifecycle keeps its state under: %s. Choose another key.',
          array_to_string(reserved, ', ')
        );
  end if;
end;
$$;

comment on function memory.check_metadata(jsonb, text[]) is
'Refuses metadata that is no JSON object of at most 64 KiB or uses a reserved key. Errors: PM002.';

create function memory.check_time(
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
  if value is null or not isfinite(value) then
    raise exception '% is %', name, coalesce(value::text, 'NULL')
      using errcode = 'PM002', hint = format('Pass %s as a finite timestamp.', name);
  end if;
end;
$$;

comment on function memory.check_time(text, timestamptz) is
'Refuses a NULL or infinite time. Errors: PM002.';

create function memory.check_write_time(
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
  if value > now() + interval '1 day' then
    raise exception '% lies in the future: %', name, value
      using errcode = 'PM002',
        hint = format('Pass %s of at most a day ahead; only pure functions look further.', name);
  end if;
end;
$$;

comment on function memory.check_write_time(text, timestamptz) is
'Refuses a time that cannot be stored: NULL, infinite or more than a day ahead. Errors: PM002.';

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

commit;
