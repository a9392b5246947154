-- Deploy pymem:functions/core/search/list_past to pg

begin;

set local role memory_owner;

create or replace function memory.found_states()
  returns text[]
  language sql
  immutable
  parallel safe
  return '{active,fading,pending,consolidated,failed,dead_letter}'::text [];

comment on function memory.found_states() is
'The lifecycle states in which searches find a memory, unless it has expired.';

create or replace function memory.has_planned_successor(
  tenant_id text,
  fact_id uuid,
  valid_at timestamptz,
  known_at timestamptz
)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select exists (
    select
    from memory.facts as f
    join memory.facts as p
      on p.tenant_id = f.tenant_id and p.scope = f.scope and p.predicate_key = f.predicate_key
        and (
          p.entity_id = f.entity_id
          or p.entity_id is null and f.entity_id is null and p.subject_key = f.subject_key
        )
        and p.valid_from > f.valid_from and p.valid_from <= valid_at
    left join memory.memory_history as h
      on h.tenant_id = p.tenant_id and h.memory_type = 'fact' and h.memory_id = p.id
        and h.known_from <= known_at and h.known_to > known_at
    where f.tenant_id = has_planned_successor.tenant_id and f.id = fact_id
      and case
        when p.updated_at <= known_at then p.planned_for is not null and p.validity = 'active'
        else h.image ->> 'planned_for' is not null and h.image ->> 'validity' = 'active'
      end
  );
$$;

comment on function memory.has_planned_successor(text, uuid, timestamptz, timestamptz) is
'Whether something was planned, as known at known_at, that takes the place of a fact until '
'valid_at.';

-- created_at never changes, so the memories of today are read in its order, and of each that has
-- changed since the state of then is looked up.
create or replace function memory.memories_as_of(
  known_at timestamptz default null,
  valid_at timestamptz default null,
  types text[] default null,
  scope text default null,
  states text[] default null,
  tags jsonb default null,
  subject text default null,
  predicate text default null,
  entity_id uuid default null,
  butler text default null,
  content_contains text default null,
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
  if memories_as_of.after is not null then
    v_place := memory.decode_place(memories_as_of.after, 'as_of', '{timestamptz}');
  end if;
  v_filter := memory.read_filter(
    types, scope, states, null, null, tags, subject, predicate, entity_id, butler, null, null,
    content_contains, null, null, null, null, null, null,
    coalesce(v_place.as_of, memories_as_of.known_at, memories_as_of.as_of)
  );
  if valid_at is not null then
    perform memory.check_time('valid_at', valid_at);
  end if;
  v_filter.states := coalesce(
    v_filter.states,
    memory.found_states()
    -- Of other types, none is superseded, and what has expired is left out below.
    || case when valid_at is not null then '{superseded,expired}'::text[] end
  );
  v_filter.tagged_facts := null; -- as of now

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
          when d.is_decaying
          then memory.reaches_at(m.confidence, m.decay_rate, m.last_confirmed_at, $5)
        end,
        memory.ends_at(
          m.lifecycle_state = any (memory.found_states()),
          case
            when d.is_decaying
            then memory.reaches_at(m.confidence, m.decay_rate, m.last_confirmed_at, $6)
          end,
          m.valid_to, m.expires_at, ($1).as_of
        ),
        m.reference_count, m.source_butler, m.session_id, m.entity_id, m.supersedes_id, m.tags,
        m.updated_at, m.last_confirmed_at, m.last_referenced_at, m.valid_from, m.valid_to,
        case when m.planned_for > ($1).as_of then m.planned_for end,
        memory.encode_place(
          row('as_of', array[m.created_at::text], m.id, m.memory_type, ($1).as_of)
            ::memory.list_place
        )
      from (%s) as m
      cross join lateral (
        select m.decay_rate > 0 and m.maturity is distinct from 'anti_pattern'
          and m.memory_type = any (memory.decaying_type_names())
          and m.lifecycle_state in ('active', 'fading') as is_decaying
      ) as d
      order by m.created_at desc, m.id desc, m.memory_type desc
      limit $4
    $list$,
    (
      select string_agg(
        format(
          $branch$(
            select s.*
            from memory.listed_memories as c
            cross join lateral (
              select c.* where c.updated_at <= ($1).as_of
              union all
              select r.*
              from memory.memory_history as h
              cross join lateral jsonb_populate_record(c, h.image) as r
              where c.updated_at > ($1).as_of
                and h.tenant_id = ($1).tenant_id and h.memory_type = c.memory_type
                and h.memory_id = c.id
                and h.known_from <= ($1).as_of and h.known_to > ($1).as_of
            ) as s
            where c.tenant_id = ($1).tenant_id and c.memory_type = %L
              and c.created_at <= ($1).as_of
              and c.is_guarded is not true
              and %s%s%s
            order by c.created_at desc, c.id desc
            limit $4
          )$branch$,
          t.memory_type,
          memory.filter_conditions(v_filter, t.memory_type),
          case when v_place.id is not null then
            ' and (c.created_at, c.id, c.memory_type)'
            ' < ((($2).keys[1])::timestamptz, ($2).id, ($2).memory_type)'
          end,
          -- valid_from never changes.
          case when valid_at is not null and t.memory_type = 'fact' then
            ' and c.valid_from <= $3'
            ' and case'
            '   when s.lifecycle_state in (''superseded'', ''expired'') then s.valid_to > $3'
            '   else (s.valid_to is null or s.valid_to > $3)'
            '     and not memory.has_planned_successor(c.tenant_id, c.id, $3, ($1).as_of)'
            ' end'
          when valid_at is not null and memories_as_of.states is null then
            ' and s.lifecycle_state <> ''expired'''
            ' and (s.expires_at is null or s.expires_at > ($1).as_of)'
          end
        ),
        ' union all ' order by t.position
      )
      from unnest(v_filter.types) with ordinality as t (memory_type, position)
    )
  )
  using
    v_filter, v_place, valid_at, v_limit, v_settings.fading_threshold,
    v_settings.expiry_threshold;
end;
$$;

comment on function memory.memories_as_of(
  timestamptz, timestamptz, text[], text, text[], jsonb, text, text, uuid, text, text, text,
  integer, timestamptz
) is
'The memories as they were known at known_at (NULL: as_of), the newest first, up to max_results, '
'capped at 1000: states, texts, tags and confidence of then; counters are those of now, and what '
'was deleted since is missing. valid_at: of facts those that were valid in the world then, '
'superseded and expired ones included, without what is planned to be over by then. The filters '
'are those of memory.list_memories, by what was known then. '
'The next page: pass cursor of the last row as after, which keeps known_at. Errors: PM002.';
grant execute on function memory.memories_as_of to memory_writer, memory_reader, memory_admin;

create or replace function memory.state_at(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  at timestamptz
)
  returns jsonb
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the stored images
  set extra_float_digits = 1
as $$
  select coalesce(
    (
      select h.image
      from memory.memory_history as h
      where h.tenant_id = state_at.tenant_id and h.memory_type = state_at.memory_type
        and h.memory_id = state_at.memory_id and h.known_from <= at and h.known_to > at
    ),
    (
      select memory.image_of(state_at.memory_type, c.columns)
      from memory.columns_of_memory(
        state_at.tenant_id, state_at.memory_type, state_at.memory_id
      ) as c (columns)
      where (c.columns ->> 'updated_at')::timestamptz <= at
    )
  );
$$;

comment on function memory.state_at(text, text, uuid, timestamptz) is
'The image of a memory (memory.image_of) at a time; NULL before it was created.';

create or replace function memory.diff_as_of(
  earlier timestamptz,
  later timestamptz default null,
  types text[] default null,
  scope text default null,
  after text default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof memory.memory_difference
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- times in cursors
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_types text[] := case
    when diff_as_of.types is null then memory.memory_type_names()
    else memory.read_types(diff_as_of.types)
  end;
  v_scope text := memory.visible_scope(diff_as_of.scope);
  v_limit integer := memory.check_limit(max_results);
  v_place memory.list_place;
  v_later timestamptz;
begin
  if v_scope is not null then
    perform memory.check_text('scope', v_scope, 128);
  end if;
  if diff_as_of.after is not null then
    v_place := memory.decode_place(diff_as_of.after, 'diff', '{timestamptz}');
  end if;
  v_later := coalesce(v_place.as_of, diff_as_of.later, diff_as_of.as_of);
  perform memory.check_time('earlier', earlier), memory.check_time('later', v_later);
  if v_later <= earlier then
    raise exception 'earlier is %, and later is %', earlier, v_later
      using errcode = 'PM002', hint = 'Pass the earlier time first.';
  end if;

  return query
  with touched as materialized (
    select t.memory_type, t.id, max(t.at) as at
    from (
      select c.memory_type, c.id, c.created_at as at
      from memory.listed_memories as c
      where c.tenant_id = v_tenant_id and c.memory_type = any (v_types)
        and c.created_at > earlier and c.created_at <= v_later
      union all
      select h.memory_type, h.memory_id, h.known_to
      from memory.memory_history as h
      where h.tenant_id = v_tenant_id and h.memory_type = any (v_types)
        and h.known_to > earlier and h.known_to <= v_later
      union all
      -- What has run out without a change.
      select c.memory_type, c.id, c.expires_at
      from memory.listed_memories as c
      where c.tenant_id = v_tenant_id and c.memory_type = any (v_types)
        and c.expires_at > earlier and c.expires_at <= v_later
    ) as t
    group by t.memory_type, t.id
  ),
  ordered as (
    select t.*
    from touched as t
    where v_place.id is null
      or (t.at, t.id, t.memory_type)
        < ((v_place.keys[1])::timestamptz, v_place.id, v_place.memory_type)
    order by t.at desc, t.id desc, t.memory_type desc
  )
  select
    k.change, m.memory_type, m.id, m.scope, m.subject, m.predicate,
    case when b.image is not null then coalesce(b.image ->> 'content', m.content) end,
    coalesce(a.image ->> 'content', m.content),
    l.state_before, l.state_after,
    k.changed,
    case when l.state_after = 'superseded' then (
      select f.id
      from memory.facts as f
      where f.tenant_id = v_tenant_id and f.supersedes_id = m.id
      order by f.created_at desc, f.id
      limit 1
    ) end,
    o.at,
    memory.encode_place(
      row('diff', array[o.at::text], o.id, o.memory_type, v_later)::memory.list_place
    )
  from ordered as o
  cross join lateral (
    select c.* from memory.listed_memories as c
    where c.tenant_id = v_tenant_id and c.memory_type = o.memory_type and c.id = o.id
    limit 1
  ) as m
  cross join lateral memory.state_at(v_tenant_id, m.memory_type, m.id, earlier) as b (image)
  cross join lateral memory.state_at(v_tenant_id, m.memory_type, m.id, v_later) as a (image)
  cross join lateral (
    select
      case
        when (b.image ->> 'expires_at')::timestamptz <= earlier then 'expired'
        else b.image ->> 'lifecycle_state'
      end as state_before,
      case
        when (a.image ->> 'expires_at')::timestamptz <= v_later then 'expired'
        else a.image ->> 'lifecycle_state'
      end as state_after
  ) as l
  cross join lateral (
    select
      case
        when l.state_before = any (memory.found_states())
        then case when l.state_after = any (memory.found_states()) then 'changed' else 'gone' end
        when l.state_after = any (memory.found_states()) then 'appeared'
      end as change,
      array(
        select n.key
        from jsonb_each(a.image) as n
        where b.image is not null and n.value is distinct from b.image -> n.key
        order by n.key
      ) as changed
  ) as k
  where m.is_guarded is not true
    and memory.is_in_scope(m.memory_type, m.scope, v_scope)
    and k.change is not null
    and (k.change <> 'changed' or k.changed <> '{}')
  order by o.at desc, o.id desc, o.memory_type desc
  limit v_limit;
end;
$$;

comment on function memory.diff_as_of(
  timestamptz, timestamptz, text[], text, text, integer, timestamptz
) is
'What differs in what searches would find between two times at which it was known (later NULL: '
'as_of), the newest change first, up to max_results, capped at 1000. change: appeared, gone or '
'changed, with the states and contents of then and the names of the columns that changed; '
'successor_id: what superseded it. changed_at: the last change between the times. What was deleted '
'since is missing. scope: as in memory.semantic_search. The next page: pass cursor of the last row '
'as after, which keeps later. Errors: PM002.';
grant execute on function memory.diff_as_of to memory_writer, memory_reader, memory_admin;

create or replace function memory.change_density(
  from_at timestamptz default null,
  to_at timestamptz default null,
  buckets integer default 100,
  types text[] default null,
  as_of timestamptz default now()
)
  returns table (
    bucket integer,
    starts_at timestamptz,
    ends_at timestamptz,
    changes bigint
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_types text[] := case
    when change_density.types is null then memory.memory_type_names()
    else memory.read_types(change_density.types)
  end;
  v_to timestamptz := coalesce(change_density.to_at, change_density.as_of);
  v_from timestamptz := change_density.from_at;
begin
  perform memory.check_number('buckets', buckets, 1, 1000), memory.check_time('to_at', v_to);
  if v_from is null then
    select min(f.created_at) into v_from
    from unnest(v_types) as t (memory_type)
    cross join lateral (
      select c.created_at
      from memory.listed_memories as c
      where c.tenant_id = v_tenant_id and c.memory_type = t.memory_type
      order by c.created_at
      limit 1
    ) as f;
    if v_from is null or v_from >= v_to then
      return;
    end if;
  end if;
  perform memory.check_time('from_at', v_from);
  if v_to <= v_from then
    raise exception 'from_at is %, and to_at is %', v_from, v_to
      using errcode = 'PM002', hint = 'Pass the earlier time first.';
  end if;

  return query
  with counted as (
    -- A change at to_at belongs to the last bucket.
    select least(
      width_bucket(
        extract(epoch from c.at), extract(epoch from v_from), extract(epoch from v_to), buckets
      ),
      buckets
    ) as bucket, count(*) as changes
    from (
      select m.created_at as at
      from memory.listed_memories as m
      where m.tenant_id = v_tenant_id and m.memory_type = any (v_types)
        and m.created_at between v_from and v_to
      union all
      select h.known_to
      from memory.memory_history as h
      where h.tenant_id = v_tenant_id and h.memory_type = any (v_types)
        and h.known_to between v_from and v_to
    ) as c
    group by 1
  )
  select
    b.bucket,
    v_from + (v_to - v_from) * ((b.bucket - 1)::float8 / buckets),
    v_from + (v_to - v_from) * (b.bucket::float8 / buckets),
    coalesce(c.changes, 0)
  from generate_series(1, change_density.buckets) as b (bucket)
  left join counted as c on c.bucket = b.bucket
  order by b.bucket;
end;
$$;

comment on function memory.change_density(
  timestamptz, timestamptz, integer, text[], timestamptz
) is
'How many memories were created or changed their state in each of so many equal parts (1..1000) of '
'the time from from_at (NULL: the first memory) to to_at (NULL: as_of), by when it was known: '
'where memory.memories_as_of has something new to show. No rows without memories. Errors: PM002.';
grant execute on function memory.change_density to memory_writer, memory_reader, memory_admin;

commit;
