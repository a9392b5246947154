-- Deploy pymem:functions/extras/items/store_items to pg

begin;

set local role memory_owner;

create or replace function memory.is_text_array(value jsonb)
  returns boolean
  language sql
  immutable
  parallel safe
  return jsonb_typeof(value) = 'array' and not value @? 'strict $[*] ? (@.type() != "string")';

comment on function memory.is_text_array(jsonb) is
'Whether a JSON value is an array of strings; NULL for NULL.';

create or replace function memory.text_array_of(value jsonb)
  returns text[]
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select array(
    select e.label
    from jsonb_array_elements_text(value) with ordinality as e (label, place)
    order by e.place
  );
$$;

comment on function memory.text_array_of(jsonb) is
'The strings of a JSON array.';

create or replace function memory.check_namespace(
  namespace jsonb,
  whose text,
  may_be_empty boolean default false
)
  returns void
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  if memory.is_text_array(namespace) then
    if jsonb_array_length(namespace) <= 32
      and (may_be_empty or jsonb_array_length(namespace) > 0)
      and not namespace ? ''
      and octet_length(array_to_string(memory.text_array_of(namespace), '')) <= 1024
    then
      return;
    end if;
  end if;
  raise exception 'the namespace% is %', whose, coalesce(left(namespace::text, 100), 'missing')
    using errcode = 'PM002',
      hint = 'Pass an array of 1 to 32 labels, none of them empty, of at most 1024 bytes together.';
end;
$$;

comment on function memory.check_namespace(jsonb, text, boolean) is
'Rejects a namespace of an item that is not an array of 1 (or, if it may be empty, 0) to 32 labels '
'of at most 1024 octets together, or has an empty one. Errors: PM002.';

create or replace function memory.end_of_prefix(prefix text[])
  returns text[]
  language sql
  immutable
  parallel safe
  -- Nothing is between a text and the same text with the least character appended, and no label
  -- is as long as this text of the greatest.
  return case
    when cardinality(prefix) = 0 then array[repeat(chr(1114111), 257)]
    else prefix[1:cardinality(prefix) - 1] || (prefix[cardinality(prefix)] || chr(1))
  end;

comment on function memory.end_of_prefix(text[]) is
'Where the namespaces end that begin with these labels: namespace >= prefix and namespace < '
'end_of_prefix(prefix), octet by octet, holds for those and no others.';

-- The items of a batch

create or replace function memory.vectors_of(item jsonb)
  returns jsonb
  language sql
  immutable
  parallel safe
  return coalesce(nullif(item -> 'vectors', 'null'::jsonb), '[]'::jsonb);

comment on function memory.vectors_of(jsonb) is
'The vectors of an element of the argument of memory.put_items; none unless given.';

create or replace function memory.read_items(items jsonb)
  returns memory.item_to_put[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_bad record;
begin
  perform memory.check_elements(
    'item', items,
    '{"namespace": "array", "key": "string", "value": "object", "ttl": "number",
      "model": "string", "vectors": "array"}'
  );
  perform
    memory.check_namespace(i.item -> 'namespace', format(' of item %s', i.place)),
    memory.check_text(format('the key of item %s', i.place), i.item ->> 'key', 1024),
    memory.check_model(
      format('the model of item %s', i.place), coalesce(i.item ->> 'model', 'none'), 512
    ),
    memory.check_elements(
      format('item %s''s vector', i.place), memory.vectors_of(i.item),
      '{"path": "string", "embedding": "array"}'
    )
  from jsonb_array_elements(items) with ordinality as i (item, place)
  order by i.place;
  perform
    memory.check_text(
      format('the path of vector %s of item %s', v.place, i.place), v.vector ->> 'path', 1024
    ),
    memory.check_embedding(
      (v.vector ->> 'embedding')::vector, format(' at vector %s of item %s', v.place, i.place)
    )
  from jsonb_array_elements(items) with ordinality as i (item, place)
  cross join lateral jsonb_array_elements(memory.vectors_of(i.item)) with ordinality
    as v (vector, place)
  order by i.place, v.place;

  select
    i.place, octet_length((i.item -> 'value')::text) as octets, i.item ->> 'ttl' as ttl,
    memory.is_deep(i.item -> 'value') as is_deep
  into v_bad
  from jsonb_array_elements(items) with ordinality as i (item, place)
  where memory.is_deep(i.item -> 'value')
    or octet_length((i.item -> 'value')::text) > 1048576
    or (i.item ->> 'ttl')::numeric not between 0.0001 and 52560000
  order by i.place
  limit 1;
  if v_bad.is_deep then
    raise exception 'the value of item % is nested more than 64 levels deep', v_bad.place
      using errcode = 'PM002', hint = 'Pass a value with fewer levels.';
  elsif v_bad.octets > 1048576 then
    raise exception 'the value of item % is % bytes long', v_bad.place, v_bad.octets
      using errcode = 'PM002', hint = 'Pass a value of at most 1 MiB; split a larger one.';
  elsif v_bad.place is not null then
    raise exception 'the ttl of item % is % minutes', v_bad.place, v_bad.ttl
      using errcode = 'PM002',
        hint = 'Pass a ttl between 0.0001 and 52560000 minutes, 100 years, or none.';
  end if;

  -- What a batch says last of an item holds.
  return array(
    select row(r.place, r.namespace, r.key, r.value, r.ttl, r.model, r.vectors)::memory.item_to_put
    from (
      select distinct on (o.namespace, o.key) o.*
      from (
        select
          i.place, memory.text_array_of(i.item -> 'namespace') collate "C" as namespace,
          (i.item ->> 'key') collate "C" as key, nullif(i.item -> 'value', 'null'::jsonb) as value,
          make_interval(secs => (i.item ->> 'ttl')::float8 * 60) as ttl,
          coalesce(i.item ->> 'model', '') as model, memory.vectors_of(i.item) as vectors
        from jsonb_array_elements(items) with ordinality as i (item, place)
      ) as o
      order by o.namespace, o.key, o.place desc
    ) as r
    order by r.namespace, r.key
  );
end;
$$;

comment on function memory.read_items(jsonb) is
'Reads and checks the argument of memory.put_items: one element for each item, the last of those '
'with its namespace and key, ordered by these. Errors: PM002.';

create or replace function memory.put_items(
  items jsonb,
  as_of timestamptz default now()
)
  returns table (
    stored bigint,
    deleted bigint
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
  v_items memory.item_to_put[] := memory.read_items(items);
  v_item memory.item_to_put;
  v_is_deleted boolean;
  v_id uuid;
  v_ids uuid[] := '{}'::uuid [];
  v_places bigint[] := '{}'::bigint [];
begin
  perform memory.check_write_time('as_of', as_of);
  deleted := 0;
  -- One after the other, in the order of their names: whether an item is there or not, every call
  -- comes to it in this order, so that none waits for one that waits for it.
  foreach v_item in array v_items loop
    -- What has expired is gone: another item takes its place.
    delete from memory.store_items as i
    where i.tenant_id = v_tenant_id and i.namespace = v_item.namespace and i.key = v_item.key
      and (v_item.value is null or i.expires_at <= as_of)
    returning coalesce(i.expires_at > as_of, true) into v_is_deleted;
    if v_is_deleted then
      deleted := deleted + 1;
    end if;

    continue when v_item.value is null;
    insert into memory.store_items as i
      (tenant_id, namespace, key, value, ttl, expires_at, created_at, updated_at)
    values (
      v_tenant_id, v_item.namespace, v_item.key, v_item.value, v_item.ttl, as_of + v_item.ttl,
      as_of, as_of
    )
    on conflict (tenant_id, namespace, key) do update set
      value = excluded.value,
      ttl = excluded.ttl,
      expires_at = excluded.expires_at,
      updated_at = memory.next_state_at(i.updated_at, as_of)
    returning i.id into v_id;
    v_ids := v_ids || v_id;
    v_places := v_places || v_item.place;
  end loop;
  stored := cardinality(v_ids)::bigint;

  delete from memory.store_vectors as s
  where s.tenant_id = v_tenant_id and s.item_id = any (v_ids);
  insert into memory.store_vectors (tenant_id, item_id, path, model, embedding)
  select distinct on (w.id, v.vector ->> 'path')
    v_tenant_id, w.id, v.vector ->> 'path', p.model, (v.vector ->> 'embedding')::vector
  from unnest(v_ids, v_places) as w (id, place)
  join unnest(v_items) as p on p.place = w.place
  cross join lateral jsonb_array_elements(p.vectors) with ordinality as v (vector, place)
  order by w.id, v.vector ->> 'path', v.place desc;
  return next;
end;
$$;

comment on function memory.put_items(jsonb, timestamptz) is
'Stores and deletes items. items: an array of objects with namespace (1 to 32 labels), key, value '
'(an object; missing or null: the item is deleted) and, optionally, ttl (minutes until it expires, '
'counted again when it is written or read with refresh) vectors (an array of objects with path and '
'embedding, 384 numbers: by what memory.search_items finds it) and model (what these were computed '
'with). Value, ttl and vectors replace those that the item had. Of several elements with the same '
'namespace and key the last one holds. '
'Returns how many items were stored and deleted. Audited as item_stored, item_updated and '
'item_deleted; memory.replay_memory(''item'', id) shows earlier values. Errors: PM002.';
grant execute on function memory.put_items to memory_writer;

create or replace function memory.refresh_items(
  tenant_id text,
  ids uuid[],
  as_of timestamptz
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  -- Reading must also work on a standby, where nothing is refreshed.
  if ids = '{}' or not memory.can_write() then
    return;
  end if;
  with due as (
    select i.id
    from memory.store_items as i
    where i.tenant_id = refresh_items.tenant_id and i.id = any (ids)
      and i.expires_at > as_of and i.expires_at < as_of + i.ttl
    order by i.namespace, i.key
    for no key update
  )
  update memory.store_items as i
  set expires_at = as_of + i.ttl
  from due as d
  where i.tenant_id = refresh_items.tenant_id and i.id = d.id;
end;
$$;

comment on function memory.refresh_items(text, uuid[], timestamptz) is
'Moves the expiry of the items that have a ttl and have not expired: to as_of plus ttl, never '
'closer.';

create or replace function memory.get_items(
  items jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    namespace text[],
    key text,
    value jsonb,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_time('as_of', as_of);
  perform memory.check_elements(
    'item', items, '{"namespace": "array", "key": "string", "refresh": "boolean"}'
  );
  perform
    memory.check_namespace(i.item -> 'namespace', format(' of item %s', i.place)),
    memory.check_text(format('the key of item %s', i.place), i.item ->> 'key', 1024)
  from jsonb_array_elements(items) with ordinality as i (item, place)
  order by i.place;

  perform memory.refresh_items(
    v_tenant_id,
    array(
      select i.id
      from jsonb_array_elements(items) as w (item)
      join memory.store_items as i
        on i.tenant_id = v_tenant_id
          and i.namespace = memory.text_array_of(w.item -> 'namespace')
          and i.key = w.item ->> 'key'
      where (w.item ->> 'refresh')::boolean and i.ttl is not null
    ),
    as_of
  );
  return query
  select w.place, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at
  from jsonb_array_elements(items) with ordinality as w (item, place)
  join memory.store_items as i
    on i.tenant_id = v_tenant_id
      and i.namespace = memory.text_array_of(w.item -> 'namespace')
      and i.key = w.item ->> 'key'
  where (i.expires_at <= as_of) is not true
  order by w.place;
end;
$$;

comment on function memory.get_items(jsonb, timestamptz) is
'The items with these names. items: an array of objects with namespace, key and, optionally, '
'refresh (true: the ttl of the item is counted again). ordinal is the number of the element, from '
'1; there is no row for an item that does not exist or has expired. In a transaction that is '
'read-only nothing is refreshed. Errors: PM002.';
grant execute on function memory.get_items to memory_writer, memory_reader;

create or replace function memory.read_item_searches(searches jsonb)
  returns memory.item_search[]
  language plpgsql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_elements(
    'search', searches,
    '{"namespace_prefix": "array", "filter": "object", "embedding": "array", "model": "string",
      "limit": "number", "offset": "number", "refresh": "boolean"}'
  );
  perform
    memory.check_namespace(
      coalesce(nullif(s.search -> 'namespace_prefix', 'null'::jsonb), '[]'::jsonb),
      format(' of search %s', s.place), may_be_empty => true
    ),
    memory.check_model(
      format('the model of search %s', s.place), coalesce(s.search ->> 'model', 'none'), 512
    ),
    memory.check_number(
      format('the limit of search %s', s.place),
      coalesce((s.search ->> 'limit')::float8, 10), 0, 1000000000
    ),
    memory.check_number(
      format('the offset of search %s', s.place),
      coalesce((s.search ->> 'offset')::float8, 0), 0, 1000000000
    ),
    case when s.search ->> 'embedding' is not null then memory.check_embedding(
      (s.search ->> 'embedding')::vector, format(' of search %s', s.place)
    ) end
  from jsonb_array_elements(searches) with ordinality as s (search, place)
  order by s.place;
  -- Keys at the top are names of fields, whatever they begin with.
  perform memory.check_item_filter(f.value)
  from jsonb_array_elements(searches) as s (search)
  cross join lateral jsonb_each(
    case jsonb_typeof(s.search -> 'filter') when 'object' then s.search -> 'filter' end
  ) as f;

  return array(
    select row(
      r.place, r.prefix, memory.end_of_prefix(r.prefix),
      coalesce(nullif(r.search -> 'filter', 'null'::jsonb), '{}'::jsonb),
      (r.search ->> 'embedding')::vector, coalesce(r.search ->> 'model', ''),
      coalesce((r.search ->> 'limit')::float8::bigint, 10),
      coalesce((r.search ->> 'offset')::float8::bigint, 0),
      coalesce((r.search ->> 'refresh')::boolean, false)
    )::memory.item_search
    from (
      select
        s.place, s.search,
        memory.text_array_of(
          coalesce(nullif(s.search -> 'namespace_prefix', 'null'::jsonb), '[]'::jsonb)
        ) as prefix
      from jsonb_array_elements(searches) with ordinality as s (search, place)
    ) as r
    order by r.place
  );
end;
$$;

comment on function memory.read_item_searches(jsonb) is
'Reads and checks the argument of memory.search_items. Errors: PM002.';

create or replace function memory.search_items(
  searches jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    namespace text[],
    key text,
    value jsonb,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    score float8
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_search memory.item_search;
  v_ids uuid[];
  v_scores float8[];
begin
  perform memory.check_time('as_of', as_of);
  -- One after the other: each is a plan with its own range of the key.
  foreach v_search in array memory.read_item_searches(searches) loop
    select
      coalesce(array_agg(r.id order by r.place), '{}'),
      coalesce(array_agg(r.score order by r.place), '{}')
    into v_ids, v_scores
    from (
      select
        m.id, m.score,
        row_number() over (order by m.score desc nulls last, m.updated_at desc, m.namespace, m.key)
          as place
      from (
        select
          i.id, i.updated_at, i.namespace, i.key,
          case when v_search.embedding is not null then (
            select max(1 - (s.embedding <=> v_search.embedding))
            from memory.store_vectors as s
            where s.tenant_id = v_tenant_id and s.item_id = i.id and s.model = v_search.model
          ) end as score
        from memory.store_items as i
        where i.tenant_id = v_tenant_id
          and i.namespace >= v_search.prefix and i.namespace < v_search.prefix_end
          and (i.expires_at <= as_of) is not true
          and (v_search.filter = '{}' or memory.meets_item_filter(i.value, v_search.filter))
      ) as m
      order by m.score desc nulls last, m.updated_at desc, m.namespace, m.key
      limit v_search.max_results offset v_search.skipped
    ) as r;

    if v_search.refresh then
      perform memory.refresh_items(v_tenant_id, v_ids, as_of);
    end if;
    return query
    select
      v_search.place, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.expires_at, f.score
    from unnest(v_ids, v_scores) with ordinality as f (id, score, place)
    join memory.store_items as i on i.tenant_id = v_tenant_id and i.id = f.id
    order by f.place;
  end loop;
end;
$$;

comment on function memory.search_items(jsonb, timestamptz) is
'The items below a prefix of a namespace that meet a filter. searches: an array of objects, all of '
'whose keys may be missing: namespace_prefix (labels; none: all items), filter (for each field of '
'the value what it must be, or how it compares: {"$gte": 3}; $eq, $ne, $gt, $gte, $lt, $lte), '
'embedding (384 numbers), model (what it was computed with), limit (10), offset (0) and refresh '
'(true: the ttl of what is returned is counted again). With an embedding the nearest come first, '
'by the greatest cosine similarity of their vectors, which is score, -1 to 1; items without a '
'vector of that model come last and have none. Otherwise those that were written last come first. '
'Items that have expired are not returned. ordinal is the number of the element, from 1. Exact: '
'for each search every item below its prefix is compared, so many searches take as much longer. '
'Errors: PM002.';
grant execute on function memory.search_items to memory_writer, memory_reader;

create or replace function memory.matches_labels(
  namespace text[],
  pattern text[],
  is_suffix boolean
)
  returns boolean
  language sql
  immutable
  parallel safe
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select cardinality(namespace) >= cardinality(pattern) and not exists (
    select
    from unnest(pattern) with ordinality as p (label, place)
    where p.label <> '*' and p.label <> namespace[
      p.place + case when is_suffix then cardinality(namespace) - cardinality(pattern) else 0 end
    ]
  );
$$;

comment on function memory.matches_labels(text[], text[], boolean) is
'Whether a namespace begins, or ends, with the labels of a pattern; "*" stands for any one label.';

create or replace function memory.list_item_namespaces(
  listings jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    namespace text[]
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_listing record;
begin
  perform memory.check_time('as_of', as_of);
  perform memory.check_elements(
    'listing', listings,
    '{"conditions": "array", "max_depth": "number", "limit": "number", "offset": "number"}'
  );
  for v_listing in
    select
      l.place,
      coalesce(nullif(l.listing -> 'conditions', 'null'::jsonb), '[]'::jsonb) as conditions,
      (l.listing ->> 'max_depth')::float8 as max_depth,
      coalesce((l.listing ->> 'limit')::float8, 100) as max_results,
      coalesce((l.listing ->> 'offset')::float8, 0) as skipped
    from jsonb_array_elements(listings) with ordinality as l (listing, place)
    order by l.place
  loop
    perform memory.check_elements(
      format('listing %s''s condition', v_listing.place), v_listing.conditions,
      '{"match": "string", "path": "array"}'
    );
    perform
      memory.check_word('match', c.condition ->> 'match', '{prefix,suffix}'),
      memory.check_namespace(
        c.condition -> 'path', format(' of condition %s', c.place), may_be_empty => true
      )
    from jsonb_array_elements(v_listing.conditions) with ordinality as c (condition, place);
    perform
      memory.check_number('max_depth', coalesce(v_listing.max_depth, 1), 1, 1000000000),
      memory.check_number('limit', v_listing.max_results, 0, 1000000000),
      memory.check_number('offset', v_listing.skipped, 0, 1000000000);

    return query
    select v_listing.place::bigint, n.namespace
    from (
      select distinct
        i.namespace[1:coalesce(v_listing.max_depth, cardinality(i.namespace))::integer]
          as namespace
      from memory.store_items as i
      where i.tenant_id = v_tenant_id and (i.expires_at <= as_of) is not true
        and not exists (
          select
          from jsonb_array_elements(v_listing.conditions) as c (condition)
          where not memory.matches_labels(
            i.namespace, memory.text_array_of(c.condition -> 'path'),
            c.condition ->> 'match' = 'suffix'
          )
        )
    ) as n
    order by n.namespace collate "C"
    limit v_listing.max_results::bigint offset v_listing.skipped::bigint;
  end loop;
end;
$$;

comment on function memory.list_item_namespaces(jsonb, timestamptz) is
'The namespaces that have items, in order. listings: an array of objects, all of whose keys may be '
'missing: conditions (an array of objects with match, prefix or suffix, and path, labels of which '
'"*" is any one; all of them hold), max_depth (how many labels are kept), limit (100) and offset '
'(0). ordinal is the number of the element, from 1. Errors: PM002.';
grant execute on function memory.list_item_namespaces to memory_writer, memory_reader;

create or replace function memory.elements_of(
  operations jsonb,
  op text
)
  returns table (
    places bigint[],
    elements jsonb
  )
  language sql
  immutable
  parallel safe
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    coalesce(array_agg(o.place order by o.place), '{}'::bigint []),
    coalesce(jsonb_agg(o.operation - 'op' order by o.place), '[]'::jsonb)
  from jsonb_array_elements(operations) with ordinality as o (operation, place)
  where o.operation ->> 'op' = elements_of.op;
$$;

comment on function memory.elements_of(jsonb, text) is
'The operations of one kind in a batch (memory.batch_items): their numbers in it, and themselves.';

create or replace function memory.batch_items(
  operations jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    namespace text[],
    key text,
    value jsonb,
    created_at timestamptz,
    updated_at timestamptz,
    expires_at timestamptz,
    score float8
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_kind record;
begin
  if jsonb_typeof(operations) is distinct from 'array'
    or operations @? 'strict $[*] ? (@.type() != "object")'
  then
    raise exception 'operations are not a JSON array of objects'
      using errcode = 'PM002', hint = 'Pass, say, [{"op": "get", "namespace": ["a"], "key": "b"}].';
  end if;
  perform memory.check_word('op', o.operation ->> 'op', '{get,search,list,put}')
  from jsonb_array_elements(operations) as o (operation);

  for v_kind in
    select k.place, k.op, e.places, e.elements
    from unnest('{get,search,list,put}'::text []) with ordinality as k (op, place)
    cross join lateral memory.elements_of(operations, k.op) as e
    where e.places <> '{}'
    order by k.place
  loop
    case v_kind.op
      when 'get' then
        return query
        select
          v_kind.places[g.ordinal], g.namespace, g.key, g.value, g.created_at, g.updated_at,
          g.expires_at, null::float8
        from memory.get_items(v_kind.elements, as_of) as g;
      when 'search' then
        return query
        select
          v_kind.places[s.ordinal], s.namespace, s.key, s.value, s.created_at, s.updated_at,
          s.expires_at, s.score
        from memory.search_items(v_kind.elements, as_of) as s;
      when 'list' then
        return query
        select
          v_kind.places[l.ordinal], l.namespace, null::text, null::jsonb, null::timestamptz,
          null::timestamptz, null::timestamptz, null::float8
        from memory.list_item_namespaces(v_kind.elements, as_of) as l;
      else
        perform from memory.put_items(v_kind.elements, as_of);
    end case;
  end loop;
end;
$$;

comment on function memory.batch_items(jsonb, timestamptz) is
'Several operations on items in one call. operations: an array of objects with op and what the '
'function of that name takes: get (memory.get_items), search (memory.search_items), list '
'(memory.list_item_namespaces) and put (memory.put_items). All that read see the items as they '
'were before the batch. Rows of the same operation are in the order of its answer; ordinal is the '
'number of the operation, from 1. Errors: PM002.';
grant execute on function memory.batch_items to memory_writer;

create or replace function memory.delete_expired_items(as_of timestamptz default now())
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_deleted bigint;
begin
  perform memory.check_write_time('as_of', as_of);
  with due as (
    select i.id
    from memory.store_items as i
    where i.tenant_id = v_tenant_id and i.expires_at <= as_of
    order by i.namespace, i.key
    for update
  )
  delete from memory.store_items as i
  using due as d
  where i.tenant_id = v_tenant_id and i.id = d.id;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end;
$$;

comment on function memory.delete_expired_items(timestamptz) is
'Deletes the items that have expired, which no function returns any more, and returns how many. '
'Errors: PM002.';
grant execute on function memory.delete_expired_items to memory_worker, memory_writer;

commit;
