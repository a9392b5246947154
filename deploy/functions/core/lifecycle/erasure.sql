-- Deploy pymem:functions/core/lifecycle/erasure to pg

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

create or replace function memory.erase_subject(
  subject text,
  mentions boolean default true,
  dry_run boolean default false
)
  returns table (
    object text,
    erased bigint
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_names text[];
  v_entities uuid[];
  v_touched uuid[];
  v_locked uuid[] := '{}'::uuid[];
  v_keys memory.fact_keys[];
  v_about uuid[]; -- facts about the subject, without those that only mention it
  v_facts uuid[];
  v_episodes uuid[];
  v_rules uuid[] := '{}'::uuid[];
  v_entries uuid[];
  v_items uuid[];
  v_applications uuid[] := '{}'::uuid[];
  v_next_turns uuid[];
  v_runs uuid[] := '{}'::uuid[];
  v_answers uuid[];
  v_columns text[] := memory.image_text_columns();
  v_images bigint;
  v_cleared bigint;
  v_proposals bigint;
  v_errors bigint;
begin
  -- Locks come before lists, so that nothing appears between a list and its deletion. Imports
  -- and runs come first, as when they are applied; all that hold texts, because it is not known yet which
  -- concern the subject.
  if not erase_subject.dry_run then
    perform from memory.import_batches as b
    where b.tenant_id = v_tenant_id and erase_subject.mentions
    order by b.id for update;
    perform from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id
      and (r.answer is not null or r.errors <> '[]' or r.status = 'proposed')
    order by r.id for update;
    perform memory.lock_embedding_versions(v_tenant_id);
  end if;
  loop
    v_names := memory.names_of_subject(v_tenant_id, erase_subject.subject);
    -- Including the entities merged into them.
    v_entities := array(
      with recursive meant as (
        select e.id
        from memory.entities as e
        where e.tenant_id = v_tenant_id
          and case
            when erase_subject.mentions then memory.mentions_any(e.canonical_name, v_names)
            else memory.readings_of(e.canonical_name) && v_names
          end
        union
        select m.source_entity_id
        from meant as t
        join memory.entity_merges as m
          on m.tenant_id = v_tenant_id and m.target_entity_id = t.id and m.unmerged_at is null
      )
      select t.id from meant as t order by t.id
    );
    exit when erase_subject.dry_run;
    -- And those that are cleared of mentions.
    v_touched := v_entities || array(
      select e.id
      from memory.entities as e
      where e.tenant_id = v_tenant_id and erase_subject.mentions
        and (
          memory.mentions_any(e.metadata::text, v_names)
          or memory.mentions_any(e.aliases::text, v_names)
        )
    );
    exit when v_touched <@ v_locked;
    -- Whoever stores about an entity locks it, too. Its names may have changed meanwhile.
    perform from memory.entities as e
    where e.tenant_id = v_tenant_id and e.id = any (v_touched) order by e.id for update;
    v_locked := v_locked || v_touched;
  end loop;
  if not erase_subject.dry_run then
    perform from memory.fact_keys as k
    where k.tenant_id = v_tenant_id and memory.is_key_of(k, v_names, v_entities, mentions)
    order by k.scope, k.anchor, k.predicate
    for update;
  end if;
  v_keys := array(
    select k
    from memory.fact_keys as k
    where k.tenant_id = v_tenant_id and memory.is_key_of(k, v_names, v_entities, mentions)
  );

  v_about := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = v_tenant_id
      and (
        f.entity_id = any (v_entities)
        or memory.mentions_any(f.subject, v_names) and memory.readings_of(f.subject) && v_names
      )
  );
  v_facts := v_about;
  -- What a fact about the subject was drawn from, supports or contradicts it is also about the
  -- subject.
  v_episodes := array(
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and (
        e.id in (
          select l.target_id
          from memory.memory_links as l
          where l.tenant_id = v_tenant_id and l.source_type = 'fact'
            and l.source_id = any (v_about)
            and l.target_type = 'episode' and l.relation = 'derived_from'
          union all
          select l.source_id
          from memory.memory_links as l
          where l.tenant_id = v_tenant_id and l.source_type = 'episode'
            and l.target_type = 'fact' and l.target_id = any (v_about)
            and l.relation in ('supports', 'contradicts')
        )
        or e.id in (
          select f.source_episode_id
          from memory.facts as f
          where f.tenant_id = v_tenant_id and f.id = any (v_about)
        )
      )
  );
  -- What concerns a user is about that user.
  v_entries := array(
    select y.id
    from memory.entries as y
    where y.tenant_id = v_tenant_id
      and memory.mentions_any(y.user_id, v_names) and memory.readings_of(y.user_id) && v_names
  );
  -- As is what is kept under a name of the subject.
  v_items := array(
    select i.id
    from memory.store_items as i
    where i.tenant_id = v_tenant_id
      and exists (
        select
        from unnest(i.namespace || i.key) as n (name)
        where memory.mentions_any(n.name, v_names) and memory.readings_of(n.name) && v_names
      )
  );
  if erase_subject.mentions then
    v_facts := array(
      select unnest(v_about)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'facts', v_names))
    );
    v_episodes := array(
      select unnest(v_episodes)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'episodes', v_names))
    );
    v_entries := array(
      select unnest(v_entries)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'entries', v_names))
    );
    v_items := array(
      select unnest(v_items)
      union
      select unnest(memory.list_mentions(v_tenant_id, 'store_items', v_names))
      union
      select s.item_id
      from memory.store_vectors as s
      where s.tenant_id = v_tenant_id and memory.mentions_any(s.path, v_names)
    );
    v_rules := memory.list_mentions(v_tenant_id, 'rules', v_names);
    v_applications := memory.list_mentions(v_tenant_id, 'rule_applications', v_names);
    v_runs := array(
      select r.id
      from memory.consolidation_runs as r
      where r.tenant_id = v_tenant_id
        and memory.mentions_any(
          concat_ws(memory.text_boundary(), r.butler, r.prompt_version, r.model), v_names
        )
    );
  end if;
  -- The embedding of a turn also covers the end of the previous turn.
  v_next_turns := array(
    select n.id
    from memory.episodes as e
    cross join lateral (
      select t.id
      from memory.episodes as t
      where t.tenant_id = v_tenant_id and t.session_id = e.session_id and t.butler = e.butler
        and (t.created_at, t.id) > (e.created_at, e.id)
      order by t.created_at, t.id
      limit 1
    ) as n
    where e.tenant_id = v_tenant_id and e.id = any (v_episodes) and n.id <> all (v_episodes)
  );

  if not erase_subject.dry_run then
    -- What another erasure has deleted meanwhile is not in the locked lists.
    v_locked := array(
      select e.id
      from memory.episodes as e
      where e.tenant_id = v_tenant_id and e.id = any (v_episodes || v_next_turns)
      order by e.id
      for update
    );
    v_episodes := array(select unnest(v_episodes) intersect select unnest(v_locked));
    v_next_turns := array(select unnest(v_next_turns) intersect select unnest(v_locked));
    v_locked := array(
      select f.id
      from memory.facts as f
      where f.tenant_id = v_tenant_id
        and (f.id = any (v_facts) or f.object_entity_id = any (v_entities))
      order by f.id
      for update
    );
    v_facts := array(select unnest(v_facts) intersect select unnest(v_locked));
    v_rules := array(
      select r.id
      from memory.rules as r
      where r.tenant_id = v_tenant_id and r.id = any (v_rules)
      order by r.id
      for update
    );
    v_entries := array(
      select y.id
      from memory.entries as y
      where y.tenant_id = v_tenant_id and y.id = any (v_entries)
      order by y.id
      for update
    );
    v_items := array(
      select i.id
      from memory.store_items as i
      where i.tenant_id = v_tenant_id and i.id = any (v_items)
      order by i.namespace, i.key
      for update
    );
  end if;
  v_applications := array(
    select a.id
    from memory.rule_applications as a
    where a.tenant_id = v_tenant_id and (a.rule_id = any (v_rules) or a.id = any (v_applications))
  );
  -- An answer about an erased episode may tell what it said in other words.
  v_answers := array(
    select r.id
    from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.answer is not null and r.id <> all (v_runs)
      and (
        r.episode_ids && v_episodes
        or erase_subject.mentions and memory.mentions_any(r.answer, v_names)
      )
  );
  select count(*) into v_images
  from memory.memory_history as h
  where h.tenant_id = v_tenant_id
    and h.memory_id = any (v_facts || v_episodes || v_rules || v_entries || v_items || v_entities);

  if erase_subject.dry_run then
    select count(*) into v_proposals
    from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id
      and (
        p.run_id = any (v_runs) or p.memory_id = any (v_facts || v_rules)
        or p.evidence && v_episodes
        or erase_subject.mentions and memory.mentions_in_proposal(p, v_names)
      );
    if erase_subject.mentions then
      select v_images + count(*) into v_images
      from memory.memory_history as h
      where h.tenant_id = v_tenant_id
        and h.memory_id
          <> all (v_facts || v_episodes || v_rules || v_entries || v_items || v_entities)
        and memory.mentions_in_image(h.image, v_columns, v_names);
      select count(*) into v_cleared
      from memory.entities as e
      where e.tenant_id = v_tenant_id and e.id <> all (v_entities)
        and (
          memory.mentions_any(e.metadata::text, v_names)
          or memory.mentions_any(e.aliases::text, v_names)
        );
      select count(*) into v_errors
      from memory.consolidation_runs as r
      where r.tenant_id = v_tenant_id and r.id <> all (v_runs)
        and memory.mentions_any(r.errors::text, v_names);
    end if;
  else
    -- First, because triggers ask for it: memory.is_erasing.
    perform memory.write_event(
      v_tenant_id, 'erased', null, null,
      jsonb_build_object(
        'episodes', cardinality(v_episodes), 'facts', cardinality(v_facts),
        'rules', cardinality(v_rules), 'entries', cardinality(v_entries),
        'items', cardinality(v_items), 'entities', cardinality(v_entities)
      )
    );

    update memory.consolidation_runs as r
    set answer = null
    where r.tenant_id = v_tenant_id and r.id = any (v_answers);
    with deleted as (
      delete from memory.rule_applications as a
      where a.tenant_id = v_tenant_id and a.id = any (v_applications)
      returning a.id
    )
    select array_agg(d.id) into v_applications from deleted as d;
    delete from memory.rules as r where r.tenant_id = v_tenant_id and r.id = any (v_rules);
    delete from memory.facts as f where f.tenant_id = v_tenant_id and f.id = any (v_facts);
    delete from memory.entries as y where y.tenant_id = v_tenant_id and y.id = any (v_entries);
    delete from memory.store_items as i where i.tenant_id = v_tenant_id and i.id = any (v_items);
    delete from memory.episodes as e where e.tenant_id = v_tenant_id and e.id = any (v_episodes);
    update memory.facts as f
    set object_entity_id = null
    where f.tenant_id = v_tenant_id and f.object_entity_id = any (v_entities);
    delete from memory.entities as e where e.tenant_id = v_tenant_id and e.id = any (v_entities);
    delete from memory.fact_keys as k
    using unnest(v_keys) as v
    where k.tenant_id = v_tenant_id and k.scope = v.scope and k.anchor = v.anchor
      and k.predicate = v.predicate;
    delete from memory.consolidation_proposals as p
    where p.tenant_id = v_tenant_id
      and (
        p.run_id = any (v_runs) or p.memory_id = any (v_facts || v_rules)
        or p.evidence && v_episodes
        or erase_subject.mentions and memory.mentions_in_proposal(p, v_names)
      );
    get diagnostics v_proposals = row_count;
    delete from memory.consolidation_runs as r
    where r.tenant_id = v_tenant_id and r.id = any (v_runs);
    perform memory.close_reviews(v_tenant_id);
    if erase_subject.mentions then
      update memory.consolidation_runs as r
      set errors = '[]'
      where r.tenant_id = v_tenant_id and memory.mentions_any(r.errors::text, v_names);
      get diagnostics v_errors = row_count;
      update memory.import_batches as b
      set name = b.id::text
      where b.tenant_id = v_tenant_id and memory.mentions_any(b.name, v_names);
      delete from memory.restored_events as r
      where r.tenant_id = v_tenant_id and memory.mentions_any(r.event::text, v_names);
      update memory.entry_merges as m
      set model = null
      where m.tenant_id = v_tenant_id and memory.mentions_any(m.model, v_names);
      delete from memory.store_vectors as s
      where s.tenant_id = v_tenant_id and memory.mentions_any(s.model, v_names);
      update memory.entities as e
      set
        metadata = memory.redact_value(e.metadata, v_names),
        aliases = array(
          select a.alias
          from jsonb_array_elements_text(memory.redact_value(to_jsonb(e.aliases), v_names))
            with ordinality as a (alias, place)
          order by a.place
        )
      where e.tenant_id = v_tenant_id
        and (
          memory.mentions_any(e.metadata::text, v_names)
          or memory.mentions_any(e.aliases::text, v_names)
        );
      get diagnostics v_cleared = row_count;
      -- After what changes entities, because each of those leaves an image.
      v_images := v_images + memory.redact_history(v_tenant_id, v_names) - v_cleared;
    end if;

    delete from memory.staged_embeddings as s
    where s.tenant_id = v_tenant_id and s.memory_type = 'episode'
      and s.memory_id = any (v_next_turns);
    update memory.episodes as e
    set embedding = null, embedding_version_id = null
    where e.tenant_id = v_tenant_id and e.id = any (v_next_turns);
    insert into memory.embedding_queue (tenant_id, target, memory_type, memory_id)
    select v_tenant_id, t.target, 'episode', n.id
    from unnest(v_next_turns) as n (id)
    cross join (
      select 'active' as target
      union all
      select v.status from memory.embedding_versions as v
      where v.tenant_id = v_tenant_id and v.status = 'building'
    ) as t
    order by t.target, n.id
    on conflict (tenant_id, target, memory_type, memory_id) do update set
      enqueued_at = excluded.enqueued_at,
      claimed_until = excluded.claimed_until,
      attempts = excluded.attempts;
  end if;

  return query
  select v.object, v.erased
  from (
    values
      (1, 'episodes', cardinality(v_episodes)::bigint),
      (2, 'facts', cardinality(v_facts)),
      (3, 'rules', cardinality(v_rules)),
      (4, 'entries', cardinality(v_entries)),
      (5, 'items', cardinality(v_items)),
      (6, 'entities', cardinality(v_entities)),
      (7, 'rule applications', coalesce(cardinality(v_applications), 0)),
      (8, 'states in the history', v_images),
      (9, 'keys of facts', cardinality(v_keys)),
      (10, 'entities cleared of mentions', coalesce(v_cleared, 0)),
      (11, 'vectors of next turns', cardinality(v_next_turns)),
      (
        12, 'traces of consolidation',
        cardinality(v_runs) + cardinality(v_answers) + v_proposals + coalesce(v_errors, 0)
      )
  ) as v (place, object, erased)
  order by v.place;
end;
$$;

comment on function memory.erase_subject(text, boolean, boolean) is
'Deletes what the memory contains about a person or thing, in one transaction and permanently: '
'facts about the name or an entity with that name, the episodes they were drawn from, the entity, '
'the entries of a user with that name, the items with that name as key or in their namespace, and, '
'with mentions (the default), every memory whose text, tags or metadata contain one of its names '
'as whole words, and every item that does; with their vectors, history, applications and keys. '
'Turns that follow a deleted turn are embedded again. Links and tombstones stay, without content; '
'events contain none. Settings stay too, such as instructions for the prompt of consolidation that '
'contain the name. Returns what was erased, or with dry_run would be. '
'Does not cover what is stored at the same time: call memory.verify_erasure afterwards. VACUUM '
'removes the bytes from disk; backups keep them until they are deleted. Errors: PM002.';
grant execute on function memory.erase_subject to memory_admin;

create or replace function memory.verify_erasure(subject text)
  returns table (
    table_name text,
    column_name text,
    remaining bigint
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_names text[] := memory.names_of_subject(v_tenant_id, verify_erasure.subject);
  v_columns text[] := memory.image_text_columns();
begin
  -- Read from the catalog, so that no table or column is missed.
  for table_name, column_name in
    select c.table_name::text, c.column_name::text
    from memory.text_columns() as c
    order by 1, 2
  loop
    execute format(
      'select count(*) from memory.%I as t where t.tenant_id = $1 and %s',
      table_name,
      case
        when (table_name, column_name) = ('memory_history', 'image')
        then 'memory.mentions_in_image(t.image, $3, $2)'
        else format('memory.mentions_any(t.%I::text, $2)', column_name)
      end
    )
    into remaining
    using v_tenant_id, v_names, v_columns;
    return next;
  end loop;
end;
$$;

comment on function memory.verify_erasure(text) is
'Searches every text and JSON column of all tables of the tenant for a name, and the names of '
'entities with that name, and returns how many rows of each column still contain one. The actors '
'in the audit stream and the owners of access tokens are not content and stay. Reads everything. '
'Errors: PM002.';
grant execute on function memory.verify_erasure to memory_admin;

commit;
