-- Deploy pymem:functions/core/search/list_memories to pg

begin;

-- memory_search owns memory.tagged_facts: see neighbors.sql.

set local role memory_owner;
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.tagged_facts(
  tags jsonb,
  tenant_id text,
  max_results integer
)
  returns uuid[]
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_ids uuid[];
begin
  v_ids := array(
    select f.id
    from memory.facts as f
    where f.tenant_id = tagged_facts.tenant_id
      and f.tags <> '[]'
      and memory.tag_terms(f.tenant_id, f.tags)
        @> memory.tag_terms(tagged_facts.tenant_id, tagged_facts.tags)
      and f.tags @> tagged_facts.tags
    limit tagged_facts.max_results + 1
  );
  return case when cardinality(v_ids) <= max_results then v_ids end;
end;
$$;

comment on function memory.tagged_facts(jsonb, text, integer) is
'The facts of a tenant with all of these tags, in any state; NULL if there are more than '
'max_results.';
grant execute on function memory.tagged_facts to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.check_words(
  name text,
  given text[],
  words text[]
)
  returns text[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if given = '{}' or not given <@ words then
    raise exception 'unknown %: %', name, left(given::text, 200)
      using errcode = 'PM002',
        hint = format('Pass any of %s, or omit %s.', array_to_string(words, ', '), name);
  end if;
  return given;
end;
$$;

comment on function memory.check_words(text, text[], text[]) is
'Rejects words that are not among those allowed, and an empty list; otherwise returns them, NULL '
'for NULL. Errors: PM002.';

create or replace function memory.read_filter(
  types text[],
  scope text,
  states text[],
  permanences text[],
  maturities text[],
  tags jsonb,
  subject text,
  predicate text,
  entity_id uuid,
  butler text,
  session_id uuid,
  category text,
  content_contains text,
  min_confidence float8,
  max_confidence float8,
  created_from timestamptz,
  created_to timestamptz,
  updated_from timestamptz,
  updated_to timestamptz,
  as_of timestamptz
)
  returns memory.memory_filter
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_filter memory.memory_filter;
begin
  v_filter.tenant_id := memory.current_tenant();
  v_filter.types := case
    when types is null then memory.memory_type_names() else memory.read_types(types)
  end;
  v_filter.scope := memory.visible_scope(read_filter.scope);
  v_filter.states := memory.check_words(
    'states', states,
    array(
      select 'expired'
      union
      select t.to_state
      from memory.transitions as t
      where t.aspect = 'lifecycle_state'
        and t.memory_type = any (memory.memory_type_names())
        and t.to_state not in ('[*]', 'guarded')
      order by 1
    )
  );
  v_filter.permanences := memory.check_words('permanences', permanences, memory.permanences());
  v_filter.maturities := memory.check_words(
    'maturities', maturities, '{candidate,established,proven,anti_pattern}'
  );
  v_filter.tags := read_filter.tags;
  v_filter.subject_key := memory.spelling_key(memory.collapse_whitespace(subject));
  v_filter.predicate_key := memory.predicate_key(memory.collapse_whitespace(predicate));
  v_filter.entity_id := read_filter.entity_id;
  v_filter.butler := butler;
  v_filter.session_id := read_filter.session_id;
  v_filter.category := category;
  v_filter.content_contains := lower(content_contains);
  v_filter.min_confidence := nullif(min_confidence, 0);
  v_filter.max_confidence := nullif(max_confidence, 1);
  v_filter.created_from := created_from;
  v_filter.created_to := created_to;
  v_filter.updated_from := updated_from;
  v_filter.updated_to := updated_to;
  v_filter.as_of := as_of;

  perform
    memory.check_text(t.name, t.value, t.max_octets)
  from (values
    ('scope', v_filter.scope, 128), ('subject', subject, 512), ('predicate', predicate, 512),
    ('butler', butler, 128), ('category', category, 128),
    ('content_contains', content_contains, 1024)
  ) as t (name, value, max_octets)
  where t.value is not null;
  perform
    memory.check_number('min_confidence', coalesce(min_confidence, 0), 0, 1),
    memory.check_number('max_confidence', coalesce(max_confidence, 1), 0, 1),
    memory.check_time('as_of', as_of);
  if v_filter.tags is not null then
    perform memory.check_tags(v_filter.tags);
    if v_filter.types @> '{fact}' then
      v_filter.tagged_facts := memory.tagged_facts(v_filter.tags, v_filter.tenant_id, 1000);
    end if;
  end if;
  return v_filter;
end;
$$;

comment on function memory.read_filter(
  text[], text, text[], text[], text[], jsonb, text, text, uuid, text, uuid, text, text, float8,
  float8, timestamptz, timestamptz, timestamptz, timestamptz, timestamptz
) is
'The filters of a list, checked; arguments as of memory.list_memories. Errors: PM002.';

create or replace function memory.ends_at(
  is_live boolean,
  decayed_at timestamptz,
  valid_to timestamptz,
  expires_at timestamptz,
  as_of timestamptz
)
  returns timestamptz
  language sql
  immutable
  parallel safe
  return case
    when is_live
    then least(decayed_at, valid_to, case when expires_at > as_of then expires_at end)
  end;

comment on function memory.ends_at(
  boolean, timestamptz, timestamptz, timestamptz, timestamptz
) is
'When a live memory is no longer found: when its confidence has decayed to expiry_threshold '
'(decayed_at), when it is no longer valid, or when it expires. NULL: never, or it is over already.';

-- Only the filters in use become conditions, so that the planner sees which index suits them.
create or replace function memory.filter_conditions(
  filter memory.memory_filter,
  memory_type text
)
  returns text
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select string_agg(c.condition, ' and ' order by c.position)
  from (values
    (1, true, format('s.tenant_id = ($1).tenant_id and s.memory_type = %L', memory_type)),
    (2, true, 's.is_guarded is not true'),
    (3, (filter).scope is not null, 'memory.is_in_scope(s.memory_type, s.scope, ($1).scope)'),
    (
      4, (filter).states is null,
      's.is_live and (s.expires_at is null or s.expires_at > ($1).as_of)'
    ),
    (
      5, (filter).states is not null,
      'case when s.expires_at <= ($1).as_of then ''expired'' else s.lifecycle_state end'
      ' = any (($1).states)'
    ),
    (6, (filter).permanences is not null, 's.permanence = any (($1).permanences)'),
    (7, (filter).maturities is not null, 's.maturity = any (($1).maturities)'),
    (8, (filter).tags is not null, 's.tags @> ($1).tags'),
    (
      9, (filter).tagged_facts is not null and memory_type = 'fact',
      's.id = any (($1).tagged_facts)'
    ),
    (10, (filter).subject_key is not null, 's.subject_key = ($1).subject_key'),
    (11, (filter).predicate_key is not null, 's.predicate_key = ($1).predicate_key'),
    (12, (filter).entity_id is not null, 's.entity_id = ($1).entity_id'),
    (13, (filter).butler is not null, 's.source_butler = ($1).butler'),
    (14, (filter).session_id is not null, 's.session_id = ($1).session_id'),
    (15, (filter).category is not null, 's.category = ($1).category'),
    (
      16, (filter).content_contains is not null,
      (
        -- Collation "C", which knows only the letters of ASCII, takes a third of the time.
        select format(
          '(%s)',
          string_agg(
            format('strpos(lower(s.%I%s), ($1).content_contains) > 0', t.name, n.collation), ' or '
            order by t.position
          )
        )
        from unnest('{content,subject,predicate}'::text[]) with ordinality as t (name, position)
        cross join (
          select case
            when octet_length((filter).content_contains) = length((filter).content_contains)
            then ' collate "C"'
            else ''
          end as collation
        ) as n
        where t.name = 'content' or memory_type = 'fact'
      )
    ),
    (
      17, (filter).min_confidence is not null,
      'memory.effective_confidence(s.confidence, s.decay_rate, s.last_confirmed_at, ($1).as_of)'
      ' >= ($1).min_confidence'
    ),
    (
      18, (filter).max_confidence is not null,
      'memory.effective_confidence(s.confidence, s.decay_rate, s.last_confirmed_at, ($1).as_of)'
      ' < ($1).max_confidence'
    ),
    (19, (filter).created_from is not null, 's.created_at >= ($1).created_from'),
    (20, (filter).created_to is not null, 's.created_at < ($1).created_to'),
    (21, (filter).updated_from is not null, 's.updated_at >= ($1).updated_from'),
    (22, (filter).updated_to is not null, 's.updated_at < ($1).updated_to')
  ) as c (position, applies, condition)
  where c.applies;
$$;

comment on function memory.filter_conditions(memory.memory_filter, text) is
'SQL for the memories s of one type of memory.listed_memories that pass a filter, which is $1.';

create or replace function memory.encode_place(place memory.list_place)
  returns text
  language sql
  immutable
  parallel safe
  return translate(
    encode(convert_to(to_jsonb(place)::text, 'UTF8'), 'base64'), E'+/=\n', '-_'
  );

comment on function memory.encode_place(memory.list_place) is
'The cursor of a place in a list: letters, digits, hyphens and underscores.';

create or replace function memory.decode_place(
  cursor text,
  order_by text,
  key_types text[]
)
  returns memory.list_place
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_place memory.list_place;
begin
  begin
    v_place := jsonb_populate_record(
      null::memory.list_place,
      convert_from(
        decode(
          rpad(translate(cursor, '-_', '+/'), (length(cursor) + 3) / 4 * 4, '='), 'base64'
        ),
        'UTF8'
      )::jsonb
    );
    perform
      case k.type_name
        when 'timestamptz' then isfinite(k.key::timestamptz)
        when 'float8' then k.key::float8 is not null
        when 'integer' then k.key::integer is not null
        when 'text' then k.key is not null
        when 'uuid' then k.key::uuid is not null
      end
    from unnest(v_place.keys, key_types) as k (key, type_name);
  exception
    when data_exception or program_limit_exceeded then
      v_place := null;
  end;
  if num_nulls(v_place.keys, v_place.id, v_place.memory_type, v_place.as_of) > 0
    or v_place.order_by is distinct from decode_place.order_by
    or cardinality(v_place.keys) <> cardinality(key_types)
    or array_position(v_place.keys, null) is not null
    or not isfinite(v_place.as_of)
  then
    raise exception 'after is not a cursor of this list'
      using errcode = 'PM002',
        hint = 'Pass the cursor of the last row of the page before, with the same order.';
  end if;
  return v_place;
end;
$$;

comment on function memory.decode_place(text, text, text[]) is
'The place in a list that a cursor names, of an order that compares values of these types. Errors: '
'PM002 not a cursor of this order.';

-- What each order compares, as SQL over a memory s; $3 is the day of as_of since 1970, $4 the
-- logarithm of fading_threshold. Of equal ones the id decides, then the type, in the same
-- direction: so a place in the list is one comparison of rows, which an index answers.
create or replace function memory.list_order(order_by text)
  returns table (
    keys text[],
    key_types text[],
    direction text,
    place_bound text
  )
  language sql
  immutable
  rows 1
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select o.keys, o.key_types, o.direction, o.place_bound
  from (values
    ('newest', '{s.created_at}'::text[], '{timestamptz}'::text[], 'desc', null),
    ('oldest', '{s.created_at}', '{timestamptz}', 'asc', null),
    ('updated', '{s.updated_at}', '{timestamptz}', 'desc', null),
    ('important', '{s.importance,s.created_at}', '{float8,timestamptz}', 'desc', null),
    ('most_used', '{s.reference_count}', '{integer}', 'desc', null),
    (
      'most_confident', '{s.decay_key - s.decay_rate * $3,s.decay_rate,s.decay_key}',
      '{float8,float8,float8}', 'desc',
      's.decay_key <= (($2).keys[1])::float8 + r.decay_rate * $3 + 1e-6'
    ),
    (
      'least_confident', '{s.decay_key - s.decay_rate * $3,s.decay_rate,s.decay_key}',
      '{float8,float8,float8}', 'asc',
      's.decay_key >= (($2).keys[1])::float8 + r.decay_rate * $3 - 1e-6'
    ),
    (
      'fades_next', '{"(s.decay_key - $4) / nullif(s.decay_rate, 0)",s.decay_rate,s.decay_key}',
      '{float8,float8,float8}', 'asc',
      's.decay_key >= (($2).keys[1])::float8 * r.decay_rate + $4 - 1e-6'
    )
  ) as o (order_by, keys, key_types, direction, place_bound)
  where o.order_by = list_order.order_by;
$$;

comment on function memory.list_order(text) is
'How a list is ordered: what is compared, the types of that, asc or desc, and, of an order by '
'decay, what bounds the next page among the memories of one decay rate (r.decay_rate).';

create or replace function memory.list_statement(
  filter memory.memory_filter,
  order_by text,
  is_continued boolean,
  max_results integer
)
  returns text
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_order record;
  v_named_keys text; -- s.created_at as k1, ...
  v_inner_order text;
  v_outer_order text;
  v_place text := '';
begin
  select o.* into strict v_order from memory.list_order(list_statement.order_by) as o;
  select
    string_agg(format('%s as k%s', k.key, k.position), ', ' order by k.position),
    string_agg(format('%s %s', k.key, v_order.direction), ', ' order by k.position),
    string_agg(format('m.k%s %s', k.position, v_order.direction), ', ' order by k.position)
  into v_named_keys, v_inner_order, v_outer_order
  from unnest(v_order.keys) with ordinality as k (key, position);
  if is_continued then
    v_place := format(
      ' and (%s, s.id, s.memory_type) %s (%s, ($2).id, ($2).memory_type)',
      array_to_string(v_order.keys, ', '),
      case v_order.direction when 'desc' then '<' else '>' end,
      (
        select string_agg(
          format('(($2).keys[%s])::%s', t.position, t.name), ', ' order by t.position
        )
        from unnest(v_order.key_types) with ordinality as t (name, position)
      )
    );
  end if;

  -- Only what is compared, because those that are sorted may be many.
  return format(
    'select m.memory_type, m.id, array[%s]::text[] as keys,
       row_number() over (order by %3$s) as place
     from (%2$s) as m order by %3$s limit %4$s',
    (
      select string_agg(format('m.k%s::text', k.position), ', ' order by k.position)
      from generate_subscripts(v_order.keys, 1) as k (position)
    ),
    (
      select string_agg(b.branch, ' union all ' order by t.position)
      from unnest((filter).types) with ordinality as t (memory_type, position)
      cross join lateral (
        select concat(
          memory.filter_conditions(filter, t.memory_type), v_place,
          case when order_by = 'fades_next' then ' and s.is_decaying and s.decay_rate > 0' end
        ) as conditions
      ) as c
      cross join lateral (
        select case
          -- The facts of one decay rate stand in an index in this order: the first ones of each
          -- rate are merged.
          when t.memory_type = 'fact' and v_order.place_bound is not null
          then format(
            '(select f.*
              from (
                select memory.decay_rate_of(p.permanence) as decay_rate
                from unnest(memory.permanences()) as p (permanence)
              ) as r
              cross join lateral (
                select s.memory_type, s.id, %s
                from memory.listed_memories as s
                where %s and s.decay_rate = r.decay_rate%s
                order by s.decay_key %s, s.id %4$s
                limit %5$s
              ) as f)',
            v_named_keys, c.conditions,
            case when is_continued then ' and ' || v_order.place_bound else '' end,
            v_order.direction, max_results
          )
          -- No index has this order: at least read the table in the order in which it was filled.
          when order_by = 'most_used'
          then format(
            '(select s.memory_type, s.id, %s
              from (
                select s.* from memory.listed_memories as s where %s order by s.created_at offset 0
              ) as s
              order by %s, s.id %s limit %s)',
            v_named_keys, c.conditions, v_inner_order, v_order.direction, max_results
          )
          else format(
            '(select s.memory_type, s.id, %s
              from memory.listed_memories as s where %s order by %s, s.id %s limit %s)',
            v_named_keys, c.conditions, v_inner_order, v_order.direction, max_results
          )
        end as branch
      ) as b
    ),
    format('%s, m.id %s, m.memory_type %2$s', v_outer_order, v_order.direction),
    max_results
  );
end;
$$;

comment on function memory.list_statement(memory.memory_filter, text, boolean, integer) is
'SQL that lists the memories that pass a filter ($1) in an order, after a place ($2) if '
'is_continued; $3 and $4 as in memory.list_order. keys: what the order has compared; place: its '
'number in the list.';

create or replace function memory.list_memories(
  types text[] default null,
  scope text default null,
  states text[] default null,
  permanences text[] default null,
  maturities text[] default null,
  tags jsonb default null,
  subject text default null,
  predicate text default null,
  entity_id uuid default null,
  butler text default null,
  session_id uuid default null,
  category text default null,
  content_contains text default null,
  min_confidence float8 default null,
  max_confidence float8 default null,
  created_from timestamptz default null,
  created_to timestamptz default null,
  updated_from timestamptz default null,
  updated_to timestamptz default null,
  order_by text default 'newest',
  after text default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof memory.listed_memory
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- times in cursors
  set extra_float_digits = 1
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_limit integer := memory.check_limit(max_results);
  v_place memory.list_place;
  v_filter memory.memory_filter;
begin
  perform memory.check_word(
    'order_by', list_memories.order_by,
    '{newest,oldest,updated,most_confident,least_confident,fades_next,important,most_used}'
  );
  if list_memories.after is not null then
    v_place := memory.decode_place(
      list_memories.after, list_memories.order_by,
      (select o.key_types from memory.list_order(list_memories.order_by) as o)
    );
  end if;
  v_filter := memory.read_filter(
    types, scope, states, permanences, maturities, tags, subject, predicate, entity_id, butler,
    session_id, category, content_contains, min_confidence, max_confidence, created_from,
    created_to, updated_from, updated_to, coalesce(v_place.as_of, list_memories.as_of)
  );

  return query execute format(
    $list$
      select
        m.memory_type, m.id, m.entry_id,
        case when m.expires_at <= ($1).as_of then 'expired' else m.lifecycle_state end,
        m.scope, m.subject, m.predicate, m.content, m.created_at, m.title, m.category, m.maturity,
        m.permanence, m.importance, m.confidence,
        memory.effective_confidence(
          m.confidence, m.decay_rate, coalesce(m.last_confirmed_at, m.created_at), ($1).as_of
        ),
        m.effectiveness_score,
        case
          when m.is_decaying
          then memory.reaches_at(m.confidence, m.decay_rate, m.last_confirmed_at, $5)
        end,
        memory.ends_at(
          m.is_live,
          case
            when m.is_decaying
            then memory.reaches_at(m.confidence, m.decay_rate, m.last_confirmed_at, $6)
          end,
          m.valid_to, m.expires_at, ($1).as_of
        ),
        m.reference_count, m.source_butler, m.session_id, m.entity_id, m.supersedes_id, m.tags,
        m.updated_at, m.last_confirmed_at, m.last_referenced_at, m.valid_from, m.valid_to,
        case when m.planned_for > ($1).as_of then m.planned_for end,
        memory.encode_place(
          row($7, l.keys, m.id, m.memory_type, ($1).as_of)::memory.list_place
        )
      from (%s) as l
      cross join lateral (
        select s.* from memory.listed_memories as s
        where s.tenant_id = ($1).tenant_id and s.memory_type = l.memory_type and s.id = l.id
        limit 1
      ) as m
      order by l.place
    $list$,
    memory.list_statement(v_filter, list_memories.order_by, v_place.id is not null, v_limit)
  )
  using
    v_filter, v_place, memory.days_between('1970-01-01Z', v_filter.as_of),
    case
      when v_settings.fading_threshold > 0 then ln(v_settings.fading_threshold)
      else '-infinity'
    end,
    v_settings.fading_threshold, v_settings.expiry_threshold, list_memories.order_by;
end;
$$;

comment on function memory.list_memories(
  text[], text, text[], text[], text[], jsonb, text, text, uuid, text, uuid, text, text, float8,
  float8, timestamptz, timestamptz, timestamptz, timestamptz, text, text, integer, timestamptz
) is
'Memories without a question, the newest first: up to max_results, capped at 1000. types: only '
'these; NULL: all. states: only these lifecycle states (expired: also what has run out by as_of); '
'NULL: what searches find, active or fading. Guarded entries are never listed. scope: as in '
'memory.semantic_search. permanences (facts, rules), maturities (rules), subject and predicate '
'(facts, in any spelling with the same key), entity_id (facts), session_id (episodes), category '
'(entries): only memories with one of these; tags: with all of these; butler: that came from this '
'one; content_contains: whose content, subject or predicate contains this text, in upper or lower '
'case; min_confidence, max_confidence: effective confidence from, and below; created_from, '
'created_to, updated_from, updated_to: from, and before. order: newest, oldest, updated (last '
'changed first), most_confident, least_confident, fades_next (only what decays), important or '
'most_used. The next page: pass cursor of the last row as after; a cursor keeps as_of. Counts no '
'reference. Errors: PM002.';
grant execute on function memory.list_memories to memory_writer, memory_reader, memory_admin;

create or replace function memory.count_memories(
  types text[] default null,
  scope text default null,
  states text[] default null,
  permanences text[] default null,
  maturities text[] default null,
  tags jsonb default null,
  subject text default null,
  predicate text default null,
  entity_id uuid default null,
  butler text default null,
  session_id uuid default null,
  category text default null,
  content_contains text default null,
  min_confidence float8 default null,
  max_confidence float8 default null,
  created_from timestamptz default null,
  created_to timestamptz default null,
  updated_from timestamptz default null,
  updated_to timestamptz default null,
  at_most integer default 10000,
  as_of timestamptz default now()
)
  returns table (
    memories bigint,
    is_more boolean
  )
  language plpgsql
  stable
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_filter memory.memory_filter := memory.read_filter(
    types, scope, states, permanences, maturities, tags, subject, predicate, entity_id, butler,
    session_id, category, content_contains, min_confidence, max_confidence, created_from,
    created_to, updated_from, updated_to, as_of
  );
begin
  perform memory.check_number('at_most', at_most, 1, 1000000);
  execute format(
    'select least(count(*), $2), count(*) > $2 from (select from (%s) as u limit $2 + 1) as m',
    (
      select string_agg(
        format(
          '(select from memory.listed_memories as s where %s order by s.created_at limit $2 + 1)',
          memory.filter_conditions(v_filter, t.memory_type)
        ),
        ' union all ' order by t.position
      )
      from unnest(v_filter.types) with ordinality as t (memory_type, position)
    )
  )
  into memories, is_more
  using v_filter, at_most;
  return next;
end;
$$;

comment on function memory.count_memories(
  text[], text, text[], text[], text[], jsonb, text, text, uuid, text, uuid, text, text, float8,
  float8, timestamptz, timestamptz, timestamptz, timestamptz, integer, timestamptz
) is
'How many memories a list with these filters has (memory.list_memories), counted up to at_most '
'(1000000 or less); is_more: there are more. Errors: PM002.';
grant execute on function memory.count_memories to memory_writer, memory_reader, memory_admin;

create or replace function memory.find_ids(
  prefix text,
  kinds text[] default null,
  max_results integer default 10
)
  returns table (
    kind text,
    id uuid,
    title text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_limit integer := memory.check_limit(max_results);
  v_digits text := lower(replace(find_ids.prefix, '-', ''));
  v_kinds text[] := memory.memory_type_names() || array['entity'];
  v_first uuid;
  v_last uuid;
begin
  if coalesce(v_digits !~ '^[0-9a-f]{4,32}$', true) then
    raise exception 'prefix is %', quote_nullable(left(find_ids.prefix, 100))
      using errcode = 'PM002', hint = 'Pass the first 4 or more digits of an id.';
  end if;
  if find_ids.kinds = '{}' or not find_ids.kinds <@ v_kinds then
    raise exception 'unknown kinds: %', left(find_ids.kinds::text, 200)
      using errcode = 'PM002',
        hint = format(
          'Pass any of %s, or omit kinds for all of them.', array_to_string(v_kinds, ', ')
        );
  end if;
  -- As a range of ids, which the primary keys find.
  v_first := rpad(v_digits, 32, '0')::uuid;
  v_last := rpad(v_digits, 32, 'f')::uuid;

  return query
  select f.kind, f.id, left(memory.collapse_whitespace(f.title), 200)
  from (
    select
      s.memory_type as kind, s.id,
      case s.memory_type
        when 'fact' then format('[%s] [%s]: %s', s.subject, s.predicate, left(s.content, 1000))
        else left(s.content, 1000)
      end as title
    from memory.searchable_memories as s
    where s.tenant_id = v_tenant_id
      and s.id between v_first and v_last
      and s.is_guarded is not true
    union all
    select 'entity', e.id, e.canonical_name
    from memory.entities as e
    where e.tenant_id = v_tenant_id
      and e.id between v_first and v_last
  ) as f
  where find_ids.kinds is null or f.kind = any (find_ids.kinds)
  order by f.id, f.kind
  limit v_limit;
end;
$$;

comment on function memory.find_ids(text, text[], integer) is
'The memories and entities whose id begins with prefix, 4 to 32 hexadecimal digits with or without '
'hyphens, in the order of their ids: at most max_results, capped at 1000, in any state. kinds: '
'only these of episode, fact, rule, entry and entity; NULL: all. Guarded entries are never found. '
'title: its name or the beginning of its text, at most 200 characters. Errors: PM002.';
grant execute on function memory.find_ids to memory_writer, memory_reader, memory_admin;

commit;
