-- Deploy pymem:functions/extras/entries/import_entries to pg

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

create or replace function memory.take_entry_numbers(
  tenant_id text,
  days date[],
  numbers integer[]
)
  returns integer[]
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_taken integer[];
begin
  -- The locks on the rows of the days make concurrent creators take turns.
  with wanted as (
    select
      w.day, coalesce(max(w.number), 0) as highest, count(*) filter (where w.number is null) as new
    from unnest(days, numbers) as w (day, number)
    group by w.day
  ),
  taken as (
    insert into memory.entry_numbers as n (tenant_id, day, last_number)
    select take_entry_numbers.tenant_id, w.day, greatest(w.highest + w.new, 1)
    from wanted as w
    order by w.day
    on conflict (tenant_id, day) do update
    set last_number = (
      select greatest(n.last_number, w.highest) + w.new from wanted as w where w.day = n.day
    )
    returning n.day, n.last_number
  )
  select array_agg(
    coalesce(o.number, (t.last_number - w.new + o.place)::integer) order by o.ordinality
  )
  into v_taken
  from (
    select
      u.*,
      row_number() over (partition by u.day, u.number is null order by u.ordinality) as place
    from unnest(days, numbers) with ordinality as u (day, number, ordinality)
  ) as o
  join taken as t on t.day = o.day
  join wanted as w on w.day = o.day;
  return v_taken;
end;
$$;

comment on function memory.take_entry_numbers(text, date[], integer[]) is
'The numbers on these days of entries that are created: a given one is kept, and those that '
'memory.next_entry_id gives will be higher; for NULL the next of the day.';

create or replace function memory.missing_related(
  tenant_id text,
  related text[],
  created_ids text[]
)
  returns text[]
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select r.entry_id
    from unnest(related) as r (entry_id)
    where r.entry_id <> all (created_ids)
      and not exists (
        select
        from memory.entries as e
        where e.tenant_id = missing_related.tenant_id and e.entry_id = r.entry_id
          and e.policy <> 'billy'
      )
    order by r.entry_id
  );
$$;

comment on function memory.missing_related(text, text[], text[]) is
'Which of these ids name no entry: neither a stored one, guarded ones aside, nor one of '
'created_ids.';

create or replace function memory.metadata_of_import(
  metadata jsonb,
  entry memory.entry_to_import,
  missing jsonb,
  mark text default null
)
  returns jsonb
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select (metadata_of_import.metadata - '{file,missing_related}'::text[]) || coalesce(
    jsonb_object_agg(k.key, k.value) filter (where k.value is not null), '{}'
  )
  from (
    values
    (
      'file', case
        when coalesce((entry).front_matter, (entry).path) is null then metadata_of_import.metadata -> 'file'
        else coalesce(
          case
            when (entry).front_matter <> metadata_of_import.metadata -> 'file' ->> 'front_matter'
            then (metadata_of_import.metadata -> 'file') - 'mark'
            else metadata_of_import.metadata -> 'file'
          end,
          '{}'
        ) || jsonb_strip_nulls(jsonb_build_object(
          'front_matter', (entry).front_matter, 'path', (entry).path, 'mark', mark
        ))
      end
    ),
    (
      'missing_related', case
        when (entry).related is null then metadata_of_import.metadata -> 'missing_related'
        else nullif(missing, '[]')
      end
    )
  ) as k (key, value);
$$;

comment on function memory.metadata_of_import(
  jsonb, memory.entry_to_import, jsonb, text
) is
'The metadata of an entry after an import: with the front matter and the path of its file, the '
'mark of a new entry, and the related ids that name no entry. Another front matter has no mark.';

create or replace function memory.differs_from_import(
  entry memory.entries,
  import memory.entry_to_import
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select coalesce(
    (import).content <> (entry).content
    or (import).entry_type <> (entry).entry_type
    or (import).tags <> (entry).tags
    or (import).keywords <> (entry).keywords
    or (import).importance <> (entry).importance
    or (import).confidence <> (entry).confidence
    or (import).source <> (entry).source
    or (import).scope <> (entry).scope
    or (import).archived <> ((entry).retention = 'archived')
    or (import).metadata <> (entry).metadata - '{file,missing_related}'::text[]
    or exists (
      select
      from (
        values
        ('category', (import).category, (entry).category),
        ('user_id', (import).user_id, (entry).user_id),
        ('persona_id', (import).persona_id, (entry).persona_id),
        ('session_id', (import).session_id, (entry).session_id)
      ) as v (key, imported, stored)
      where v.key = any ((import).given) and v.imported is distinct from v.stored
    )
    or 'expires_at' = any ((import).given)
    and (import).expires_at is distinct from (entry).expires_at
    or exists (
      -- A link that the import does not name, or an entry that it names without any link.
      select
      from memory.memory_links as l
      join memory.entries as t on t.tenant_id = l.tenant_id and t.id = l.target_id
      where l.tenant_id = (entry).tenant_id and l.source_type = 'entry'
        and l.source_id = (entry).id and l.target_type = 'entry' and l.relation = 'related_to'
        and t.policy <> 'billy' and t.entry_id <> all ((import).related)
    )
    or exists (
      select
      from memory.entries as t
      where t.tenant_id = (entry).tenant_id and t.entry_id = any ((import).related)
        and t.id <> (entry).id and t.policy <> 'billy'
        -- It was named before it existed.
        and coalesce(not (entry).metadata -> 'missing_related' ? t.entry_id, true)
        and not exists (
          select
          from memory.memory_links as l
          where l.tenant_id = t.tenant_id and l.source_type = 'entry'
            and l.source_id = (entry).id and l.target_type = 'entry' and l.target_id = t.id
        )
    ),
    false
  );
$$;

comment on function memory.differs_from_import(memory.entries, memory.entry_to_import) is
'Whether an import says otherwise than a stored entry is; its counters, times and front matter '
'aside.';

create or replace function memory.import_entries(
  entries jsonb,
  as_of timestamptz default now()
)
  returns table (
    "position" bigint, -- noqa: RF06
    entry_id text,
    id uuid,
    version integer,
    outcome text,
    reason text,
    missing_related text[]
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set enable_seqscan = off -- a plan made while there were few entries serves for many, too
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_text_search_config text := memory.text_search_config_of(v_tenant_id);
  v_entries memory.entry_to_import[];
  v_count integer;
  v_ids uuid[]; -- the row of each, stored or new
  v_outcomes text[];
  v_reasons text[];
  v_entry_ids text[];
  v_missing jsonb[]; -- the related ids of each that name no entry
  v_created text[];
  v_guarded_scopes text[];
begin
  perform memory.check_write_time('as_of', as_of);
  if jsonb_typeof(entries) is distinct from 'array' then
    raise exception 'entries are not a JSON array'
      using errcode = 'PM002', hint = 'Pass an array of objects, one per entry.';
  end if;
  v_entries := array(
    select memory.read_import(a.element, a.ordinality, as_of)
    from jsonb_array_elements(entries) with ordinality as a (element, ordinality)
    order by a.ordinality
  );
  v_count := cardinality(v_entries);
  if v_count = 0 then
    return;
  end if;
  v_guarded_scopes := array(
    select s.scope
    from (
      select distinct coalesce(n.scope, 'global') as scope
      from unnest(v_entries) as n
    ) as s
    where memory.policy_of(v_tenant_id, s.scope) = 'billy'
    order by s.scope
  );

  perform
  from memory.entries as e
  where e.tenant_id = v_tenant_id
    and (
      e.entry_id = any (array(
        select n.entry_id from unnest(v_entries) as n where n.entry_id is not null order by 1
      ))
      or e.idempotency_key = any (array(
        select n.idempotency_key from unnest(v_entries) as n
        where n.entry_id is null and n.idempotency_key is not null
        order by 1
      ))
    )
  order by e.id
  for no key update;

  -- First what is refused, and what is new.
  select
    array_agg(coalesce(d.stored_id, gen_random_uuid()) order by d."position"),
    array_agg(d.entry_id order by d."position"),
    array_agg(
      case
        when d.reason is not null then 'rejected'
        when d.stored_id is not null then null
        when d.deleted then 'unchanged'
        when d.is_purged then 'deleted'
        else 'created'
      end
      order by d."position"
    ),
    array_agg(
      case
        when d.reason is not null then d.reason
        when d.stored_id is not null then null
        when d.deleted then 'there is no such entry'
        when d.is_purged then 'it was deleted for good'
      end
      order by d."position"
    )
  into v_ids, v_entry_ids, v_outcomes, v_reasons
  from (
    select
      n."position", n.deleted, e.id as stored_id, coalesce(e.entry_id, n.entry_id) as entry_id,
      n.known_id is not null and e.id is null and exists (
        select
        from memory.memory_events as v
        where v.tenant_id = v_tenant_id and v.memory_id = n.known_id
          and v.event_type = 'entry_purged'
      ) as is_purged,
      case
        when n.problem is not null then n.problem
        when n.earlier < n."position" then format('it is the same entry as element %s', n.earlier)
        when e.policy = 'billy' then 'policy: the entry is guarded, it is never changed'
        when e.id is null and n.deleted is not true and n.content is null then 'it has no content'
        when (e.id is null and n.deleted is not true or n.scope <> e.scope)
          and coalesce(n.scope, 'global') = any (v_guarded_scopes)
        then format(
          'policy: entries of scope %s are written on explicit request only',
          quote_literal(coalesce(n.scope, 'global'))
        )
      end as reason
    from (
      select
        u.*,
        case
          when coalesce(u.entry_id, u.idempotency_key) is not null
          then min(u."position") over (
            partition by u.problem is null, u.entry_id, case
              when u.entry_id is null then u.idempotency_key
            end
          )
        end as earlier
      from unnest(v_entries) as u
    ) as n
    left join lateral (
      select x.id, x.entry_id, x.scope, x.policy
      from memory.entries as x
      where x.tenant_id = v_tenant_id and x.entry_id = n.entry_id and n.problem is null
      union all
      select x.id, x.entry_id, x.scope, x.policy
      from memory.entries as x
      where x.tenant_id = v_tenant_id and x.idempotency_key = n.idempotency_key
        and n.entry_id is null and n.problem is null
    ) as e on true
  ) as d;

  v_created := array(
    select v_entry_ids[o."position"]
    from unnest(v_entries) as o
    where v_outcomes[o."position"] = 'created' and v_entry_ids[o."position"] is not null
    order by 1
  );
  v_missing := array(
    select to_jsonb(
      case
        when n.problem is null then memory.missing_related(v_tenant_id, n.related, v_created)
        else '{}'
      end
    )
    from unnest(v_entries) as n
    order by n."position"
  );

  if 'created' = any (v_outcomes) then
    with days as (
      select
        array_agg(d.day order by d."position") as days,
        array_agg(d.number order by d."position") as numbers,
        array_agg(d."position" order by d."position") as positions
      from (
        select
          n."position",
          coalesce(
            substring(n.entry_id from 5 for 10)::date,
            (coalesce(n.created_at, as_of) at time zone 'UTC')::date
          ) as day,
          substring(n.entry_id from 16)::integer as number
        from unnest(v_entries) as n
        where v_outcomes[n."position"] = 'created'
      ) as d
    )
    select array_agg(
      coalesce(
        v_entry_ids[n."position"],
        'mem-' || to_char(g.day, 'YYYY-MM-DD-')
        || case when g.number < 1000 then to_char(g.number, 'FM000') else g.number::text end
      )
      order by n."position"
    )
    into v_entry_ids
    from unnest(v_entries) as n
    left join (
      select g.*
      from days as d
      cross join lateral unnest(
        d.positions, d.days, memory.take_entry_numbers(v_tenant_id, d.days, d.numbers)
      ) as g ("position", day, number)
    ) as g on g."position" = n."position";

    insert into memory.entries (
      tenant_id, id, entry_id, content, entry_type, category, tags, keywords, importance, confidence,
      source, trust, scope, user_id, persona_id, session_id, retention, version, created_at,
      edited_at, decayed_at, reference_count, last_referenced_at, expires_at, metadata,
      text_search_config, idempotency_key
    )
    select
      v_tenant_id, v_ids[n."position"], v_entry_ids[n."position"], n.content,
      coalesce(n.entry_type, 'note'), n.category, coalesce(n.tags, '[]'),
      coalesce(n.keywords, '[]'), coalesce(n.importance, 5.0),
      coalesce(n.confidence, memory.initial_confidence('import')), coalesce(n.source, 'import'),
      memory.trust_of_source(coalesce(n.source, 'import')), coalesce(n.scope, 'global'),
      n.user_id, n.persona_id, n.session_id,
      case when n.archived then 'archived' else 'active' end, coalesce(n.version, 1),
      coalesce(n.created_at, as_of), coalesce(n.updated_at, n.created_at, as_of),
      -- Its confidence has been lowered for not being used until now, by where it comes from.
      case when n.created_at < as_of then as_of end,
      coalesce(n.access_count, 0), n.last_accessed, n.expires_at,
      memory.metadata_of_import(
        coalesce(n.metadata, '{}'), n, v_missing[n."position"],
        memory.entry_file_mark(
          coalesce(n.version, 1), coalesce(n.confidence, memory.initial_confidence('import')),
          n.archived is true, n.expires_at, coalesce(n.access_count, 0), n.last_accessed,
          coalesce(n.related, '{}')
        )
      ),
      v_text_search_config, n.idempotency_key
    from unnest(v_entries) as n
    where v_outcomes[n."position"] = 'created'
    order by v_entry_ids[n."position"]
    on conflict do nothing;

    -- Another session may have been faster.
    select
      array_agg(
        case when l.is_lost then 'conflict' else v_outcomes[l."position"] end order by l."position"
      ),
      array_agg(
        case
          when l.is_lost then 'another session has just stored it' else v_reasons[l."position"]
        end
        order by l."position"
      )
    into v_outcomes, v_reasons
    from (
      select
        n."position",
        v_outcomes[n."position"] = 'created' and not exists (
          select
          from memory.entries as e
          where e.tenant_id = v_tenant_id and e.id = v_ids[n."position"]
        ) as is_lost
      from unnest(v_entries) as n
    ) as l;
  end if;

  -- Then what is done with the entries that are stored.
  select
    array_agg(coalesce(v_outcomes[d."position"], d.outcome) order by d."position"),
    array_agg(coalesce(v_reasons[d."position"], d.reason) order by d."position")
  into v_outcomes, v_reasons
  from (
    select
      n."position",
      case
        when e.id is null then null
        when n.deleted and e.deleted_at is not null then 'unchanged'
        when n.deleted and (n.base_version <> e.version or n.known_id <> e.id) then 'conflict'
        when n.deleted or e.deleted_at is not null then 'deleted'
        when not c.is_other and not c.is_changed then
          case
            when n.front_matter <> coalesce(e.metadata -> 'file' ->> 'front_matter', '')
            then 'updated'
            else 'unchanged'
          end
        when c.is_other or n.base_version <> e.version then 'conflict'
        when e.expired_at is not null or n.source <> e.source or c.is_too_large then 'rejected'
        else 'updated'
      end as outcome,
      case
        when e.id is null then null
        when n.deleted and e.deleted_at is not null then null
        when n.deleted and n.known_id <> e.id or c.is_other and e.deleted_at is null
        then format('another entry has this id, created at %s', to_char(
          e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'
        ))
        when n.deleted and n.base_version <> e.version
        then format('it has version %s, not %s', e.version, n.base_version)
        when n.deleted then null
        when e.deleted_at is not null then 'it was deleted; memory.restore_memory brings it back'
        when not c.is_changed then null
        when n.base_version <> e.version
        then format('it has version %s, not %s', e.version, n.base_version)
        when e.expired_at is not null then 'it has expired; memory.restore_memory brings it back'
        when n.source <> e.source then format('its source is %s and cannot change', e.source)
        when c.is_too_large then 'its metadata with the front matter is longer than 64 KiB'
      end as reason
    from unnest(v_entries) as n
    left join memory.entries as e
      on e.tenant_id = v_tenant_id and e.id = v_ids[n."position"]
      and v_outcomes[n."position"] is null
    left join lateral (
      select
        -- An edited entry keeps its uuid and its time of creation.
        coalesce(n.created_at <> e.created_at, false)
        or coalesce(n.known_id <> e.id, false) and memory.differs_from_import(e, n) as is_other,
        memory.differs_from_import(e, n) as is_changed,
        octet_length(memory.metadata_of_import(
          coalesce(n.metadata || memory.kept_metadata(e.metadata), e.metadata), n,
          v_missing[n."position"]
        )::text) > 65536 as is_too_large
      where e.id is not null
    ) as c on true
  ) as d;

  update memory.entries as e
  set deleted_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
  where e.tenant_id = v_tenant_id and e.deleted_at is null
    and e.id = any (array(
      select v_ids[n."position"]
      from unnest(v_entries) as n
      where n.deleted and v_outcomes[n."position"] = 'deleted'
      order by 1
    ));

  update memory.entries as e
  set
    content = coalesce(n.content, e.content),
    entry_type = coalesce(n.entry_type, e.entry_type),
    category = case when 'category' = any (n.given) then n.category else e.category end,
    tags = coalesce(n.tags, e.tags),
    keywords = coalesce(n.keywords, e.keywords),
    importance = coalesce(n.importance, e.importance),
    confidence = coalesce(n.confidence, e.confidence),
    scope = coalesce(n.scope, e.scope),
    user_id = case when 'user_id' = any (n.given) then n.user_id else e.user_id end,
    persona_id = case when 'persona_id' = any (n.given) then n.persona_id else e.persona_id end,
    session_id = case when 'session_id' = any (n.given) then n.session_id else e.session_id end,
    expires_at = case when 'expires_at' = any (n.given) then n.expires_at else e.expires_at end,
    retention = case when n.archived then 'archived' else 'active' end,
    flagged_at = null,
    metadata = memory.metadata_of_import(
      coalesce(n.metadata || memory.kept_metadata(e.metadata), e.metadata), n,
      v_missing[n."position"]
    ),
    edited_at = case
      when n.updated_at <> e.edited_at then n.updated_at else greatest(e.edited_at, as_of)
    end,
    reference_count = greatest(e.reference_count, n.access_count),
    last_referenced_at = greatest(e.last_referenced_at, n.last_accessed),
    version = e.version + 1,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  from unnest(v_entries) as n
  where e.tenant_id = v_tenant_id and e.id = v_ids[n."position"]
    and v_outcomes[n."position"] = 'updated' and memory.differs_from_import(e, n);

  -- The file reads otherwise, but says the same of the entry: no new version.
  update memory.entries as e
  set
    metadata = m.metadata,
    reference_count = greatest(e.reference_count, n.access_count),
    last_referenced_at = greatest(e.last_referenced_at, n.last_accessed),
    updated_at = case
      when m.metadata <> e.metadata then memory.next_state_at(e.updated_at, as_of)
      else e.updated_at
    end
  from unnest(v_entries) as n
  cross join lateral (
    select o.metadata
    from memory.entries as o
    where o.tenant_id = v_tenant_id and o.id = v_ids[n."position"]
  ) as o
  cross join lateral (
    select
      memory.metadata_of_import(o.metadata, n, v_missing[n."position"]) as metadata
  ) as m
  where e.tenant_id = v_tenant_id and e.id = v_ids[n."position"] and n.deleted is not true
    and v_outcomes[n."position"] in ('unchanged', 'updated')
    and not memory.differs_from_import(e, n)
    and (
      m.metadata - 'file' <> e.metadata - 'file'
      or (m.metadata -> 'file') - 'mark' <> (e.metadata -> 'file') - 'mark'
      or m.metadata ? 'file' and not e.metadata ? 'file'
      or n.access_count > e.reference_count
      or n.last_accessed > coalesce(e.last_referenced_at, '-infinity')
    )
    and octet_length(m.metadata::text) <= 65536;

  delete from memory.memory_links as l
  using unnest(v_entries) as n
  where l.tenant_id = v_tenant_id and l.source_type = 'entry' and l.source_id = v_ids[n."position"]
    and l.target_type = 'entry' and l.relation = 'related_to'
    and n.related is not null and v_outcomes[n."position"] = 'updated'
    and not exists (
      select
      from memory.entries as t
      where t.tenant_id = v_tenant_id and t.id = l.target_id
        and (t.entry_id = any (n.related) or t.policy = 'billy')
    );
  -- A pair that is linked otherwise keeps its relation.
  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation)
  select v_tenant_id, 'entry', v_ids[n."position"], 'entry', t.id, 'related_to'
  from unnest(v_entries) as n
  join memory.entries as t
    on t.tenant_id = v_tenant_id and t.entry_id = any (n.related) and t.policy <> 'billy'
  where v_outcomes[n."position"] in ('created', 'updated', 'unchanged')
    and n.deleted is not true and t.id <> v_ids[n."position"]
  order by v_ids[n."position"], t.id
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;

  return query
  select
    n."position", v_entry_ids[n."position"], e.id, e.version, v_outcomes[n."position"],
    v_reasons[n."position"],
    case
      when v_outcomes[n."position"] in ('created', 'updated', 'unchanged')
      then array(
        select m.entry_id
        from jsonb_array_elements_text(v_missing[n."position"]) as m (entry_id)
        order by m.entry_id
      )
      else '{}'
    end
  from unnest(v_entries) as n
  left join memory.entries as e
    on e.tenant_id = v_tenant_id and e.id = v_ids[n."position"] and e.policy <> 'billy'
  order by n."position";
end;
$$;

comment on function memory.import_entries(jsonb, timestamptz) is
'Stores entries that come from elsewhere: an array of objects with entry_id (kept; none: a new '
'one of the day of created_at), content, type, tags, keywords, category, confidence (NULL: 0.80), '
'importance, source (default import), scope, user_id, persona_id, session_id, created_at, '
'updated_at, expires_at (may lie in the past), access_count, last_accessed, version, archived, '
'related (entry ids, also of the same array), metadata; of a file, front_matter and path; '
'idempotency_key. A stored entry keeps what an object leaves out; null clears. deleted: it is to '
'be deleted. base_version: the version that the change was made to (0: none is expected), and id: '
'the uuid it is known by; if the stored entry has another and differs, nothing is overwritten. '
'Returns for each, in order, what became of it: created, updated, unchanged, conflict, deleted, '
'or rejected, with the reason; the others are stored all the same. missing_related: ids that name '
'no entry yet; importing again links them. Importing twice changes nothing. Errors: PM002 not an '
'array.';
grant execute on function memory.import_entries to memory_writer;

commit;
