-- Deploy pymem:functions/core/search/peek_memory to pg

begin;

set local role memory_owner;

create or replace function memory.foresee_states(
  memory memory.listed_memories,
  settings memory.settings,
  as_of timestamptz
)
  returns table (
    state text,
    effective_confidence float8,
    fades_at timestamptz,
    ends_at timestamptz,
    next_state text,
    next_state_at timestamptz
  )
  language sql
  stable
  rows 1
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    s.state,
    memory.effective_confidence(
      (memory).confidence, (memory).decay_rate,
      coalesce((memory).last_confirmed_at, (memory).created_at), as_of
    ),
    d.fades_at, e.ends_at, n.state, n.starts_at
  from (
    select case
      when (memory).expires_at <= as_of then 'expired' else (memory).lifecycle_state
    end as state
  ) as s
  cross join lateral (
    select
      case when (memory).is_decaying then memory.reaches_at(
        (memory).confidence, (memory).decay_rate, (memory).last_confirmed_at,
        settings.fading_threshold
      ) end as fades_at,
      case when (memory).is_decaying then memory.reaches_at(
        (memory).confidence, (memory).decay_rate, (memory).last_confirmed_at,
        settings.expiry_threshold
      ) end as decayed_at
  ) as d
  cross join lateral (
    select memory.ends_at(
      (memory).is_live, d.decayed_at, (memory).valid_to, (memory).expires_at, as_of
    ) as ends_at
  ) as e
  left join lateral (
    select f.state, f.starts_at
    from (values
      (1, 'fading', case when s.state = 'active' then d.fades_at end),
      (2, case (memory).memory_type when 'rule' then 'retracted' else 'expired' end, e.ends_at)
    ) as f (position, state, starts_at)
    where f.starts_at is not null
    order by f.starts_at, f.position desc
    limit 1
  ) as n on true;
$$;

comment on function memory.foresee_states(
  memory.listed_memories, memory.settings, timestamptz
) is
'The state and effective confidence of a memory at as_of, and what becomes of it if nobody touches '
'it: when it fades and when it is no longer found, and the first of these with the state that it '
'then has, which the sweep writes. NULL: never.';

create or replace function memory.peek_memory(
  memory_type text,
  memory_id uuid,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_memory memory.listed_memories;
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_time('as_of', as_of);
  select m.* into v_memory
  from memory.listed_memories as m
  where m.tenant_id = v_tenant_id
    and m.memory_type = peek_memory.memory_type and m.id = peek_memory.memory_id;
  if not found then
    return null;
  end if;
  if v_memory.is_guarded then
    perform memory.refuse_guarded(memory_type, memory_id);
  end if;

  return (
    select jsonb_build_object(
      'memory',
      memory.columns_of_memory(v_tenant_id, memory_type, memory_id)
      || jsonb_build_object('memory_type', memory_type),
      'state', f.state,
      'effective_confidence', f.effective_confidence,
      'fades_at', f.fades_at,
      'ends_at', f.ends_at,
      'next_state', f.next_state,
      'next_state_at', f.next_state_at,
      'fading_threshold', v_settings.fading_threshold,
      'expiry_threshold', v_settings.expiry_threshold,
      'contradicted',
      memory.list_contradicted(memory_type, array[memory_id], as_of) <> '{}'
    )
    from memory.foresee_states(v_memory, v_settings, as_of) as f
  ) || jsonb_build_object(
    'entity',
    (
      select jsonb_build_object('entity_id', e.id, 'canonical_name', e.canonical_name)
      from memory.entities as e
      where e.tenant_id = v_tenant_id and e.id = v_memory.entity_id
    ),
    'superseded_by',
    (
      select l.source_id
      from memory.memory_links as l
      -- One that is live again was brought back from what superseded it.
      where l.tenant_id = v_tenant_id and not v_memory.is_live
        and l.target_type = peek_memory.memory_type and l.target_id = peek_memory.memory_id
        and l.source_type = peek_memory.memory_type and l.relation = 'supersedes'
      order by l.created_at desc, l.source_id
      limit 1
    ),
    'links',
    (
      select coalesce(
        jsonb_agg(
          to_jsonb(l) - 'place' || jsonb_build_object(
            'other_type', o.memory_type, 'other_id', o.id, 'other_text', t.content
          )
          order by l.place
        ),
        '[]'
      )
      from memory.get_links(memory_type, memory_id, max_results => 200, as_of => as_of)
        with ordinality as l (
          source_type, source_id, source_state, target_type, target_id, target_state, relation,
          created_at, place
        )
      cross join lateral (
        select
          case when l.source_id = peek_memory.memory_id then l.target_type else l.source_type end
          as memory_type,
          case when l.source_id = peek_memory.memory_id then l.target_id else l.source_id end as id
      ) as o
      left join lateral (
        select left(
          case s.memory_type
            when 'fact' then format('[%s] [%s]: %s', s.subject, s.predicate, s.content)
            when 'entry' then s.title
            else s.content
          end,
          200
        ) as content
        from memory.listed_memories as s
        where s.tenant_id = v_tenant_id and s.memory_type = o.memory_type and s.id = o.id
          and s.is_guarded is not true
        limit 1
      ) as t on true
    ),
    'links_total',
    (
      select count(*)
      from memory.get_links(memory_type, memory_id, max_results => 10000, as_of => as_of)
    ),
    'outcomes',
    (
      select coalesce(
        jsonb_agg(
          jsonb_build_object(
            'outcome', a.outcome, 'reason', a.reason, 'context', a.context,
            'created_at', a.created_at
          )
          order by a.created_at desc, a.id
        ),
        '[]'
      )
      from (
        select r.id, r.outcome, r.reason, r.context, r.created_at
        from memory.rule_applications as r
        where r.tenant_id = v_tenant_id and r.rule_id = peek_memory.memory_id
        order by r.created_at desc, r.id
        limit 100
      ) as a
    ),
    'outcomes_total',
    (
      select count(*)
      from memory.rule_applications as r
      where r.tenant_id = v_tenant_id and r.rule_id = peek_memory.memory_id
    )
  );
end;
$$;

comment on function memory.peek_memory(text, uuid, timestamptz) is
'Everything about one memory, in any state, without counting a reference; NULL for an unknown id. '
'A JSON object: memory (all columns except vectors), state (its lifecycle state, or expired), '
'effective_confidence, fades_at and ends_at (when it fades, and when it is no longer found, if '
'nobody touches it; null: never), next_state and next_state_at (the first of these; a time that is '
'past means with the next sweep), fading_threshold, expiry_threshold, contradicted (by a memory or '
'a proposal that still stands), entity (entity_id, canonical_name), superseded_by, links (as '
'memory.get_links, the oldest 200, each with other_type, other_id and other_text, the beginning of '
'what the other end says), links_total (counted to 10000), outcomes of a rule (the newest 100), '
'outcomes_total. Errors: PM002, PM008 a guarded entry.';
grant execute on function memory.peek_memory to memory_writer, memory_reader, memory_admin;

create or replace function memory.decay_curve(
  memory_type text,
  memory_id uuid,
  from_at timestamptz default null,
  to_at timestamptz default null,
  points integer default 100,
  as_of timestamptz default now()
)
  returns table (
    at timestamptz,
    effective_confidence float8,
    state text,
    mark text,
    fading_threshold float8,
    expiry_threshold float8
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_memory memory.listed_memories;
  v_next record;
  v_from timestamptz;
  v_to timestamptz;
begin
  perform
    memory.check_word('memory_type', memory_type, memory.memory_type_names()),
    memory.check_number('points', points, 2, 1000),
    memory.check_time('as_of', as_of),
    memory.check_time('from_at', coalesce(from_at, as_of));
  select m.* into v_memory
  from memory.listed_memories as m
  where m.tenant_id = v_tenant_id
    and m.memory_type = decay_curve.memory_type and m.id = decay_curve.memory_id;
  if not found then
    return;
  end if;
  if v_memory.is_guarded then
    perform memory.refuse_guarded(memory_type, memory_id);
  end if;
  select f.* into v_next from memory.foresee_states(v_memory, v_settings, as_of) as f;

  v_from := greatest(coalesce(from_at, v_memory.created_at), v_memory.created_at);
  -- A little beyond the end, so that the curve shows it.
  v_to := coalesce(to_at, greatest(
    as_of + interval '30 days', v_next.ends_at + (v_next.ends_at - v_from) / 20
  ));
  perform memory.check_time('to_at', v_to);
  if v_to <= v_from then
    raise exception 'to_at is %, and the curve begins at %', v_to, v_from
      using errcode = 'PM002', hint = 'Pass a to_at after from_at and the creation of the memory.';
  end if;

  return query
  with states as (
    select
      h.known_from, h.known_to, h.image ->> 'lifecycle_state' as state,
      (h.image ->> 'confidence')::float8 as confidence,
      (h.image ->> 'decay_rate')::float8 as decay_rate,
      coalesce((h.image ->> 'last_confirmed_at')::timestamptz, v_memory.created_at) as confirmed_at
    from memory.memory_history as h
    where h.tenant_id = v_tenant_id and h.memory_type = decay_curve.memory_type
      and h.memory_id = decay_curve.memory_id
    union all
    select
      v_memory.updated_at, 'infinity', null, v_memory.confidence, v_memory.decay_rate,
      coalesce(v_memory.last_confirmed_at, v_memory.created_at)
  ),
  times as (
    select v_from + (v_to - v_from) * (n / (points - 1.0)) as at, null as mark
    from generate_series(0, points - 1) as n
    union
    select m.at, m.mark
    from (
      values
      ('created', v_memory.created_at), ('now', as_of), ('fades', v_next.fades_at),
      ('ends', v_next.ends_at)
    ) as m (mark, at)
    where m.at between v_from and v_to
    union
    (
      select distinct s.confirmed_at, 'confirmed'
      from states as s
      where s.confirmed_at between v_from and v_to and s.confirmed_at > v_memory.created_at
      order by s.confirmed_at desc
      limit 100
    )
  )
  select
    t.at,
    case v_memory.memory_type
      when 'episode' then 1.0
      else memory.effective_confidence(s.confidence, s.decay_rate, s.confirmed_at, t.at)
    end,
    case
      when s.state is not null then s.state
      when t.at > as_of and t.at >= v_next.ends_at
      then case v_memory.memory_type when 'rule' then 'retracted' else 'expired' end
      when t.at > as_of and v_memory.lifecycle_state = 'active' and t.at > v_next.fades_at
      then 'fading'
      when v_memory.expires_at <= t.at then 'expired'
      else v_memory.lifecycle_state
    end,
    t.mark, v_settings.fading_threshold, v_settings.expiry_threshold
  from times as t
  join states as s on s.known_from <= t.at and s.known_to > t.at
  order by
    t.at, array_position(array['created', 'confirmed', 'now', 'fades', 'ends'], t.mark) nulls first;
end;
$$;

comment on function memory.decay_curve(
  text, uuid, timestamptz, timestamptz, integer, timestamptz
) is
'The effective confidence of a memory over time, for a chart: at points times (2..1000) from '
'from_at (NULL: its creation, before which there are none) to to_at (NULL: beyond its end, and 30 '
'days from as_of at least), and at those with a mark: created, confirmed (the newest 100 times), '
'now (as_of), fades and ends (if nobody touches it). The past is what its history says: each '
'confirmation lets the decay begin again; the future follows from the formula of '
'memory.effective_confidence. Each row also has the thresholds below which it fades and expires. '
'No rows for an unknown id. Errors: PM002, PM008 a guarded entry.';
grant execute on function memory.decay_curve to memory_writer, memory_reader, memory_admin;

commit;
