-- Deploy pymem:functions/extras/entries/read_import to pg

begin;

set local role memory_owner;

create or replace function memory.entry_file_mark(
  version integer,
  confidence float8,
  archived boolean,
  expires_at timestamptz,
  reference_count integer,
  last_referenced_at timestamptz,
  related text[]
)
  returns text
  language sql
  immutable
  parallel safe
  return md5(jsonb_build_array(
    version, confidence, archived, expires_at at time zone 'UTC', reference_count,
    last_referenced_at at time zone 'UTC', to_jsonb(related)
  )::text);

comment on function memory.entry_file_mark(
  integer, float8, boolean, timestamptz, integer, timestamptz, text[]
) is
'A digest of the version of an entry and of what changes without a new version, among it the ids '
'of the entries that it names, in order. As long as it stays, the front matter of the file that '
'an entry came from says what the entry is.';

create or replace function memory.is_entry_id(entry_id text)
  returns boolean
  language sql
  immutable
  parallel safe
  return case
    -- Longer numbers would leave none for the entries that follow on that day.
    when entry_id !~ '^mem-(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])-\d{3,8}$' then false
    else substring(entry_id from 13 for 2)::integer <= extract(day from
      make_date(
        substring(entry_id from 5 for 4)::integer, substring(entry_id from 10 for 2)::integer, 1
      ) + interval '1 month - 1 day'
    )
  end;

comment on function memory.is_entry_id(text) is
'Whether a text is the id of an entry, of an existing day, with a number of at most 8 digits.';

create or replace function memory.read_import(
  element jsonb,
  "position" bigint, -- noqa: RF06
  as_of timestamptz
)
  returns memory.entry_to_import
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- of times without an offset
as $$
declare
  v_types constant jsonb := '{
    "entry_id": "string", "id": "string", "content": "string", "type": "string", "tags": "array",
    "keywords": "array", "category": "string", "confidence": "number", "importance": "number",
    "source": "string", "scope": "string", "user_id": "string", "persona_id": "string",
    "session_id": "string", "created_at": "string", "updated_at": "string",
    "expires_at": "string", "access_count": "number", "last_accessed": "string",
    "version": "number", "base_version": "number", "archived": "boolean", "deleted": "boolean",
    "related": "array", "front_matter": "string", "path": "string", "metadata": "object",
    "idempotency_key": "string"
  }'::jsonb;
  v_entry memory.entry_to_import;
  v_bad text;
begin
  v_entry."position" := "position";
  if jsonb_typeof(element) <> 'object' then
    v_entry.problem := 'it is not a JSON object';
    return v_entry;
  end if;
  v_entry.entry_id := left(element ->> 'entry_id', 100);
  v_entry.given := array(select k.key from jsonb_object_keys(element) as k (key) order by k.key);
  select
    case
      when v_types ->> k.key is null
      then format('it has the unknown key %s', to_jsonb(left(k.key, 100)))
      else format('%s is %s, not a JSON %s', k.key, left(k.value::text, 100), v_types ->> k.key)
    end
  into v_bad
  from jsonb_each(element) as k
  where v_types ->> k.key is null or jsonb_typeof(k.value) not in (v_types ->> k.key, 'null')
  order by k.key
  limit 1;
  if found then
    v_entry.problem := v_bad;
    return v_entry;
  end if;

  begin
    perform memory.check_number(k.key, (element ->> k.key)::float8, k.lowest, k.highest)
    from (
      values
      ('access_count', 0, 2147483647), ('base_version', 0, 2147483647), ('confidence', 0, 1),
      ('importance', 0, 10), ('version', 1, 2147483646)
    ) as k (key, lowest, highest)
    where element ->> k.key is not null
    order by k.key;
    select k.key into v_bad
    from unnest('{access_count,base_version,version}'::text[]) as k (key)
    where trunc((element ->> k.key)::numeric) <> (element ->> k.key)::numeric
    order by k.key
    limit 1;
    if found then
      perform memory.refuse_number(v_bad, (element ->> v_bad)::float8, 0, 2147483646);
    end if;
    select k.key into v_bad
    from unnest('{created_at,expires_at,last_accessed,updated_at}'::text[]) as k (key)
    where element ->> k.key
      !~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?$'
    order by k.key
    limit 1;
    if found then
      raise exception '% is %, not a time such as 2026-03-01T12:00:00Z',
        v_bad, left(element ->> v_bad, 100)
        using errcode = 'PM002', hint = 'Pass times in ISO 8601.';
    end if;
    if (element ->> 'id') !~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then
      raise exception 'id is %, not a UUID', left(element ->> 'id', 100)
        using errcode = 'PM002', hint = 'Pass the id that import_entries returned, or none.';
    end if;

    v_entry.entry_id := element ->> 'entry_id';
    v_entry.known_id := (element ->> 'id')::uuid;
    v_entry.content := element ->> 'content';
    v_entry.entry_type := element ->> 'type';
    v_entry.category := element ->> 'category';
    v_entry.confidence := (element ->> 'confidence')::float8;
    v_entry.source := element ->> 'source';
    v_entry.user_id := element ->> 'user_id';
    v_entry.persona_id := element ->> 'persona_id';
    v_entry.session_id := element ->> 'session_id';
    v_entry.created_at := (element ->> 'created_at')::timestamptz;
    v_entry.updated_at := (element ->> 'updated_at')::timestamptz;
    v_entry.expires_at := (element ->> 'expires_at')::timestamptz;
    v_entry.access_count := (element ->> 'access_count')::numeric::integer;
    v_entry.last_accessed := (element ->> 'last_accessed')::timestamptz;
    v_entry.version := (element ->> 'version')::numeric::integer;
    v_entry.base_version := (element ->> 'base_version')::numeric::integer;
    v_entry.archived := (element ->> 'archived')::boolean;
    v_entry.deleted := (element ->> 'deleted')::boolean;
    v_entry.front_matter := element ->> 'front_matter';
    v_entry.path := element ->> 'path';
    v_entry.idempotency_key := element ->> 'idempotency_key';
    -- A key with null clears; one that is left out keeps.
    if element ? 'tags' then
      v_entry.tags := coalesce(nullif(element -> 'tags', 'null'), '[]');
      perform memory.check_tags(v_entry.tags);
      v_entry.tags := memory.clean_labels(v_entry.tags);
    end if;
    if element ? 'keywords' then
      v_entry.keywords := coalesce(nullif(element -> 'keywords', 'null'), '[]');
      perform memory.check_tags(v_entry.keywords, ' (keywords)');
      v_entry.keywords := memory.clean_labels(v_entry.keywords);
    end if;
    if element ? 'importance' then
      v_entry.importance := coalesce((element ->> 'importance')::float8, 5.0);
    end if;
    if element ? 'scope' then
      v_entry.scope := memory.collapse_whitespace(coalesce(element ->> 'scope', 'global'));
      perform memory.check_scope('scope', v_entry.scope);
    end if;
    if element ? 'metadata' then
      v_entry.metadata := coalesce(nullif(element -> 'metadata', 'null'), '{}');
      perform memory.check_metadata(v_entry.metadata, '{file,missing_related}');
    end if;
    if element ? 'related' then
      if element -> 'related' @? 'strict $[*] ? (@.type() != "string")' then
        raise exception 'related is not an array of ids'
          using errcode = 'PM002', hint = 'Pass ids such as ["mem-2026-03-01-001"].';
      end if;
      v_entry.related := array(
        select distinct r.entry_id collate "C"
        from jsonb_array_elements_text(nullif(element -> 'related', 'null')) as r (entry_id)
        order by 1
      );
      perform memory.check_number('number of related ids', cardinality(v_entry.related), 0, 1000);
      perform memory.check_text('related id', r.entry_id, 200)
      from unnest(v_entry.related) as r (entry_id);
      if v_entry.entry_id = any (v_entry.related) then
        raise exception 'it names itself as related'
          using errcode = 'PM002', hint = 'Leave its own id out of related.';
      end if;
    end if;

    perform
      case
        when v_entry.content is not null
        then memory.check_text('content', v_entry.content, 1048576)
      end,
      memory.check_word(
        'type', coalesce(v_entry.entry_type, 'note'), '{fact,preference,pattern,note}'
      ),
      memory.check_word(
        'source', coalesce(v_entry.source, 'import'),
        '{user,system,tool,interaction,import,derived}'
      ),
      memory.check_idempotency_key(v_entry.idempotency_key),
      memory.check_write_time('created_at', coalesce(v_entry.created_at, as_of)),
      memory.check_write_time('updated_at', coalesce(v_entry.updated_at, as_of)),
      memory.check_write_time('last_accessed', coalesce(v_entry.last_accessed, as_of)),
      memory.check_object(
        'metadata with the front matter',
        coalesce(v_entry.metadata, '{}') || jsonb_build_object(
          'file', jsonb_build_object(
            'front_matter', v_entry.front_matter, 'path', v_entry.path, 'mark', md5('')
          ),
          'missing_related', coalesce(v_entry.related, '{}')
        )
      );
    perform memory.check_text(n.name, n.value, n.max_octets)
    from (
      values
      ('category', v_entry.category, 128), ('user_id', v_entry.user_id, 128),
      ('persona_id', v_entry.persona_id, 128), ('session_id', v_entry.session_id, 128),
      ('path', v_entry.path, 1024)
    ) as n (name, value, max_octets)
    where n.value is not null;
    if octet_length(v_entry.front_matter) > 16384 then
      perform memory.refuse_text('front_matter', v_entry.front_matter, 16384);
    end if;
    if not memory.is_entry_id(v_entry.entry_id) then
      raise exception 'entry_id is %, not an id such as mem-2026-03-01-001',
        quote_literal(left(v_entry.entry_id, 100))
        using errcode = 'PM002', hint = 'Pass an id of this form, or none for a new one.';
    end if;
  exception
    when sqlstate 'PM002' or data_exception or program_limit_exceeded then
      v_entry.problem := sqlerrm;
  end;
  return v_entry;
end;
$$;

comment on function memory.read_import(jsonb, bigint, timestamptz) is
'Reads an element of the import_entries argument; problem says what is wrong with it. Times '
'without an offset are UTC.';

commit;
