-- Deploy pymem:functions/core/lifecycle/mentions to pg

begin;

set local role memory_owner;

create or replace function memory.unescape_text(body text)
  returns text
  language plpgsql
  immutable
  strict
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- An escaped backslash does not begin another escape.
  v_text text := replace(body, '\\', chr(1));
  v_escape record;
begin
  v_text := regexp_replace(v_text collate "C", '\\[bfnrt]', ' ', 'g');
  v_text := regexp_replace(v_text collate "C", '\\(["/])', '\1', 'g');
  if v_text collate "C" ~ '\\u[0-9a-fA-F]{4}' then
    -- NUL and half a surrogate pair are no characters.
    v_text := regexp_replace(
      v_text collate "C",
      '\\u0000|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})'
      '|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}',
      ' ', 'g'
    );
    for v_escape in
      select distinct m.found[1] as code
      from regexp_matches(
        v_text collate "C", '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u[0-9a-fA-F]{4}', 'g'
      ) as m (found)
    loop
      v_text := replace(v_text, v_escape.code, unistr(v_escape.code));
    end loop;
  end if;
  return replace(v_text, chr(1), '\');
end;
$$;

comment on function memory.unescape_text(text) is
'A text with the escapes of JSON strings decoded once; whitespace that was escaped becomes spaces.';

create or replace function memory.readings_of(body text)
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  -- Characters without a glyph that may stand inside a word.
  v_invisible text := '[\u00ad\u034f\u061c\u17b4\u17b5\u180b-\u180d\u180f\u200c-\u200f'
    || '\u202a-\u202e\u2061-\u206f\ufe00-\ufe0f\ufff9-\ufffb\U0001d173-\U0001d17a'
    || '\U000e0000-\U000e0fff]';
  -- Those that may as well stand between two words.
  v_blank text := '[\x01-\x08\x0e-\x1f\x7f-\u0084\u0086-\u009f\u115f\u1160\u180e\u200b\u2060'
    || '\u2800\u3164\ufeff\uffa0]';
  v_text text := body;
  v_visible text;
  v_next text;
  v_readings text[] := '{}'::text[];
begin
  -- Each level of escapes halves the backslashes, so this ends.
  while v_text is not null loop
    v_visible := case
      when octet_length(v_text) = length(v_text) then v_text
      else regexp_replace(v_text collate "C", v_invisible, '', 'g')
    end;
    if v_visible collate "C" ~ v_blank then
      v_readings := v_readings
        || memory.normalize_name(regexp_replace(v_visible collate "C", v_blank, ' ', 'g'));
      v_visible := regexp_replace(v_visible collate "C", v_blank, '', 'g');
    end if;
    v_readings := v_readings || memory.normalize_name(v_visible);
    exit when strpos(v_text, '\') = 0;
    v_next := memory.unescape_text(v_text);
    exit when v_next = v_text;
    v_text := v_next;
  end loop;
  return v_readings;
end;
$$;

comment on function memory.readings_of(text) is
'A text in the forms (memory.normalize_name) in which a reader may understand it: without '
'characters that have no glyph, with those that may separate words, such as a zero width space, '
'left out and as spaces, and with the escapes of JSON strings, which a text may quote, as they are '
'and decoded, level by level. Empty for NULL.';

create or replace function memory.text_boundary()
  returns text
  language sql
  immutable
  parallel safe
  return ' x0boundary0x ';

comment on function memory.text_boundary() is
'A word between texts that are searched together (memory.readings_of leaves no punctuation), so '
'that no name is found half in one and half in the next.';

create or replace function memory.mentions_any(
  body text,
  names text[]
)
  returns boolean
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  -- Most texts are plain ASCII without the first word of any name, and this test costs a twentieth.
  if octet_length(body) = length(body) and strpos(body, '\') = 0 and not exists (
    select
    from unnest(names) as n (name)
    where strpos(lower(body), split_part(n.name, ' ', 2)) > 0
  ) then
    -- A control character may stand inside that word.
    if body collate "C" !~ '[\x01-\x08\x0e-\x1f\x7f]' then
      return false;
    end if;
  end if;
  return exists (
    select
    from unnest(memory.readings_of(body)) as r (reading)
    join unnest(names) as n (name) on position(n.name in r.reading) > 0
  );
end;
$$;

comment on function memory.mentions_any(text, text[]) is
'Whether a text, or JSON as text, contains any of the names (memory.normalize_name) as whole '
'words in any of its readings (memory.readings_of), ignoring case and accents.';

create or replace function memory.names_of_subject(
  tenant_id text,
  subject text
)
  returns text[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_names text[] := array_remove(memory.readings_of(names_of_subject.subject), '  ');
begin
  perform memory.check_text('subject', names_of_subject.subject, 512);
  if v_names = '{}' then
    raise exception 'subject % contains no letter or digit', quote_literal(names_of_subject.subject)
      using errcode = 'PM002', hint = 'Pass the name of a person or thing.';
  end if;
  return array(
    select unnest(v_names)
    union
    select n.name
    from memory.entities as e
    cross join lateral (
      select r.reading as name
      from unnest(e.aliases || e.canonical_name::text) as a (alias)
      cross join unnest(memory.readings_of(a.alias)) as r (reading)
    ) as n
    where e.tenant_id = names_of_subject.tenant_id
      and exists (
        select
        from unnest(e.aliases || e.canonical_name::text) as a (alias)
        where memory.readings_of(a.alias) && v_names
      )
      and n.name <> '  '
    order by 1
  );
end;
$$;

comment on function memory.names_of_subject(text, text) is
'A name and all names of the entities with that name or alias, in all readings '
'(memory.readings_of). Errors: PM002.';

create or replace function memory.is_key_of(
  key memory.fact_keys,
  names text[],
  entity_ids uuid[],
  mentions boolean
)
  returns boolean
  language sql
  immutable
  parallel safe
  -- noqa: disable=RF01,LT06
  return key.anchor like 'entity:%' and substr(key.anchor, 8)::uuid = any (entity_ids)
    or memory.mentions_any(
      concat_ws(memory.text_boundary(), key.anchor, key.predicate, key.scope), names
    )
    and (
      mentions
      or key.anchor like 'subject:%' and memory.readings_of(substr(key.anchor, 9)) && names
    );

-- noqa: enable=RF01,LT06

comment on function memory.is_key_of(memory.fact_keys, text[], uuid[], boolean) is
'Whether a fact key belongs to a subject: to one of its names or entities; with mentions, also '
'whether it contains one of the names.';

create or replace function memory.text_columns()
  returns table (
    table_name name,
    column_name name
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select c.relname, a.attname
  from pg_class as c
  join pg_attribute as a on a.attrelid = c.oid
  where c.relnamespace = 'memory'::regnamespace
    and c.relkind in ('r', 'p')
    and a.attnum > 0
    and not a.attisdropped
    and a.atttypid in (
      'text'::regtype, 'varchar'::regtype, 'bpchar'::regtype, 'text[]'::regtype,
      'varchar[]'::regtype, 'jsonb'::regtype, 'json'::regtype
    )
    and exists (
      select from pg_attribute as t
      where t.attrelid = c.oid and t.attname = 'tenant_id' and t.attnum > 0
    )
    -- A check that lists the values leaves no room for others.
    and not exists (
      select from pg_constraint as k
      where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
        and pg_get_constraintdef(k.oid) ~ '^CHECK \(+[a-z_]+\)?(::text)? = ANY \('
    )
    -- Words of the schema that other columns, tables or functions restrict.
    and a.attname not in (
      'tenant_id', 'memory_type', 'entity_type', 'event_type', 'permanence', 'lifecycle_state',
      'text_search_config', 'former_languages', 'entry_id', 'job'
    )
    -- Who did what is not content.
    and (c.relname, a.attname) not in (
      ('memory_events', 'actor'), ('memory_events', 'request_id'), ('memory_events', 'reason'),
      ('access_tokens', 'name'), ('access_tokens', 'actor'), ('approvals', 'granted_by'),
      ('sessions', 'actor'), ('sessions', 'csrf_token'), ('login_codes', 'actor'),
      ('chain_verifications', 'actor'), ('tenant_moves', 'peer'), ('tenant_moves', 'step'),
      ('tenant_moves', 'access')
    );
$$;

comment on function memory.text_columns() is
'The columns of text or JSON that can hold what somebody wrote, of all tables with a tenant, read '
'from the catalog.';

create or replace function memory.list_mentions(
  tenant_id text,
  table_name name,
  names text[]
)
  returns uuid[]
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_ids uuid[];
begin
  execute format(
    'select array(select t.id from memory.%I as t '
    'where t.tenant_id = $1 and memory.mentions_any(concat_ws(memory.text_boundary(), %s), $2))',
    list_mentions.table_name,
    (
      select string_agg(format('t.%I', c.column_name), ', ' order by c.column_name)
      from memory.text_columns() as c
      where c.table_name = list_mentions.table_name
    )
  )
  into v_ids
  using list_mentions.tenant_id, list_mentions.names;
  return v_ids;
end;
$$;

comment on function memory.list_mentions(text, name, text[]) is
'The rows of a table that mention one of the names in a column of memory.text_columns.';

create or replace function memory.redact_value(
  value jsonb,
  names text[]
)
  returns jsonb
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_kept jsonb;
begin
  if not memory.mentions_any(value::text, names) then
    return value;
  end if;
  case jsonb_typeof(value)
    when 'object' then
      select coalesce(jsonb_object_agg(e.key, e.value), '{}'::jsonb) into v_kept
      from jsonb_each(value) as e
      where not memory.mentions_any(
        to_jsonb(e.key)::text || memory.text_boundary() || e.value::text, names
      );
    when 'array' then
      select coalesce(jsonb_agg(e.value order by e.place), '[]'::jsonb) into v_kept
      from jsonb_array_elements(value) with ordinality as e (value, place)
      where not memory.mentions_any(e.value::text, names);
    else
      return '"***"'::jsonb;
  end case;
  -- A name may also be spread over several elements.
  return case
    when not memory.mentions_any(v_kept::text, names) then v_kept
    when jsonb_typeof(value) = 'object' then '{}'::jsonb
    else '[]'::jsonb
  end;
end;
$$;

comment on function memory.redact_value(jsonb, text[]) is
'A JSON value that does not mention the names: without the entries of an object or the elements '
'of an array that do, "***" for a text or number.';

create or replace function memory.mentions_in_image(
  image jsonb,
  columns text[],
  names text[]
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select memory.mentions_any(image::text, names) and exists (
    select
    from jsonb_each(image) as i
    where i.key = any (columns) and memory.mentions_any(i.value::text, names)
  );
$$;

comment on function memory.mentions_in_image(jsonb, text[], text[]) is
'Whether one of the columns of an image (memory.image_of) mentions one of the names.';

create or replace function memory.redact_image(
  image jsonb,
  columns text[],
  names text[]
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select jsonb_object_agg(
    i.key,
    case when i.key = any (columns) then memory.redact_value(i.value, names) else i.value end
  )
  from jsonb_each(image) as i;
$$;

comment on function memory.redact_image(jsonb, text[], text[]) is
'An image (memory.image_of) of which the columns do not mention the names (memory.redact_value).';

create or replace function memory.image_text_columns()
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select distinct c.column_name::text
    from memory.text_columns() as c
    where c.table_name in (
      select memory.table_of(t.type) from unnest(memory.recorded_type_names()) as t (type)
    )
    order by 1
  );
$$;

comment on function memory.image_text_columns() is
'The columns of images (memory.image_of) that can hold what somebody wrote.';

create or replace function memory.redact_history(
  tenant_id text,
  names text[]
)
  returns bigint
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_columns text[] := memory.image_text_columns();
  v_types text[];
  v_ids uuid[];
  v_starts timestamptz[];
begin
  with redacted as (
    update memory.memory_history as h
    set image = memory.redact_image(h.image, v_columns, redact_history.names)
    where h.tenant_id = redact_history.tenant_id
      and memory.mentions_in_image(h.image, v_columns, redact_history.names)
    returning h.memory_type, h.memory_id, h.known_from
  )
  select
    coalesce(array_agg(r.memory_type), '{}'), coalesce(array_agg(r.memory_id), '{}'),
    coalesce(array_agg(r.known_from), '{}')
  into v_types, v_ids, v_starts
  from redacted as r;

  -- The digest of what they said would still prove a guess.
  update memory.memory_history as h
  set successor_digest = memory.image_digest(s.image)
  from unnest(v_types, v_ids, v_starts) as r (memory_type, memory_id, known_from)
  join memory.memory_history as s
    on s.tenant_id = redact_history.tenant_id and s.memory_type = r.memory_type
      and s.memory_id = r.memory_id and s.known_from = r.known_from
  where h.tenant_id = redact_history.tenant_id and h.memory_type = r.memory_type
    and h.memory_id = r.memory_id and h.known_to = r.known_from;
  return cardinality(v_ids)::bigint;
end;
$$;

comment on function memory.redact_history(text, text[]) is
'Removes names from the images of earlier states and returns from how many. The states stay, so '
'that a history has no gaps.';

create or replace function memory.mentions_in_proposal(
  proposal memory.consolidation_proposals,
  names text[]
)
  returns boolean
  language sql
  immutable
  parallel safe
  return memory.mentions_any(
    concat_ws(
      memory.text_boundary(), proposal.item::text, proposal.original_item::text, proposal.key,
      proposal.content, proposal.reason,
      proposal.quotes::text, proposal.outcome
    ),
    names
  );

comment on function memory.mentions_in_proposal(memory.consolidation_proposals, text[]) is
'Whether a proposal of consolidation mentions one of the names.';

create or replace function memory.mentions_in_entity(
  entity memory.entities,
  names text[]
)
  returns boolean
  language sql
  stable
  parallel safe
  return memory.mentions_any(entity.metadata::text, names)
  or memory.mentions_any(entity.aliases::text, names);

comment on function memory.mentions_in_entity(memory.entities, text[]) is
'Whether an entity mentions one of the names beside its own name: in its metadata or aliases.';

commit;
