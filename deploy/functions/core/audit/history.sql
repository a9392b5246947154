-- Deploy pymem:functions/core/audit/history to pg

begin;

set local role memory_owner;

create or replace function memory.fact_history(fact_id uuid)
  returns table (
    "position" bigint, -- noqa: RF06
    id uuid,
    subject text,
    predicate text,
    content text,
    lifecycle_state text,
    valid_from timestamptz,
    valid_to timestamptz,
    known_from timestamptz,
    known_to timestamptz,
    confidence float8,
    supersedes_id uuid,
    source_butler text,
    source_episode_id uuid,
    actor text,
    reason text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  return query
  with recursive before as (
    select f.id, f.supersedes_id
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.id = fact_id
    union
    select p.id, p.supersedes_id
    from before as b
    join memory.facts as p on p.tenant_id = v_tenant_id and p.id = b.supersedes_id
  ),
  -- A restored fact may have been superseded twice.
  chain as (
    select b.id, 1 as generation
    from before as b
    where b.supersedes_id is null
    union all
    select s.id, c.generation + 1
    from chain as c
    join memory.facts as s on s.tenant_id = v_tenant_id and s.supersedes_id = c.id
  ) cycle id set is_cycle using path
  select
    row_number() over (order by c.generation, f.created_at, f.id), f.id, f.subject, f.predicate,
    f.content, f.lifecycle_state, f.valid_from, f.valid_to, f.created_at,
    case when f.validity <> 'active' then coalesce(
      (
        select max(h.known_to)
        from memory.memory_history as h
        where h.tenant_id = v_tenant_id and h.memory_type = 'fact' and h.memory_id = f.id
          and h.image ->> 'validity' = 'active'
      ),
      f.created_at
    ) end,
    f.confidence, f.supersedes_id, f.source_butler, f.source_episode_id, e.actor, e.reason
  from chain as c
  join memory.facts as f on f.tenant_id = v_tenant_id and f.id = c.id
  left join lateral (
    select v.actor, v.reason
    from memory.memory_events as v
    where v.tenant_id = v_tenant_id and v.memory_id = f.id and v.event_type = 'fact_created'
    order by v.created_at, v.seq
    limit 1
  ) as e on true
  where not c.is_cycle
  order by 1;
end;
$$;

comment on function memory.fact_history(uuid) is
'The chain of facts that superseded each other and includes this one, oldest first: when each is '
'true in the world (valid_from, valid_to), when the memory believed it (known_from, known_to), '
'who stored it and why. Intervals are half-open; a NULL end means still. No rows for an unknown '
'id.';
grant execute on function memory.fact_history to memory_writer, memory_reader, memory_admin;

create or replace function memory.replay_memory(
  memory_type text,
  memory_id uuid
)
  returns table (
    "position" bigint, -- noqa: RF06
    known_from timestamptz,
    known_to timestamptz,
    event_type text,
    actor text,
    image jsonb,
    problem text
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the stored images
  set extra_float_digits = 1
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_created_at timestamptz;
  v_updated_at timestamptz;
  v_columns jsonb;
begin
  perform memory.check_word('memory_type', memory_type, memory.recorded_type_names());

  execute format(
    'select m.created_at, m.updated_at, to_jsonb(m) as columns
     from memory.%I as m
     where m.tenant_id = $1 and m.id = $2',
    memory.table_of(memory_type)
  ) into v_created_at, v_updated_at, v_columns using v_tenant_id, memory_id;

  return query
  with today as (
    select v_created_at as created_at, v_updated_at as updated_at, v_columns as columns
    where v_columns is not null
  ),
  states as materialized (
    select
      row_number() over in_time as place,
      s.known_from, s.known_to, s.image,
      lag(s.image) over in_time as previous_image,
      lag(s.known_to, 1, t.created_at) over in_time as expected_from,
      lag(s.successor_digest) over in_time as expected_digest
    from (
      select h.known_from, h.known_to, h.image, h.successor_digest
      from memory.memory_history as h
      where h.tenant_id = v_tenant_id and h.memory_type = replay_memory.memory_type
        and h.memory_id = replay_memory.memory_id
      union all
      select t.updated_at, null, memory.image_of(memory_type, t.columns), null
      from today as t
    ) as s
    cross join today as t
    window in_time as (order by s.known_from)
  ),
  changes as (
    select
      a.aspect, s.place, s.previous_image ->> a.aspect as from_state,
      s.image ->> a.aspect as to_state,
      row_number() over (partition by a.aspect order by s.place) as number
    from states as s
    cross join (values ('lifecycle_state'), ('maturity')) as a (aspect)
    where s.place > 1 and s.previous_image ->> a.aspect <> s.image ->> a.aspect
  ),
  told as (
    select
      t.aspect, t.from_state, t.to_state, e.event_type, e.actor, e.created_at, e.seq,
      row_number() over (partition by t.aspect order by e.seq) as number
    from memory.memory_events as e
    join memory.transitions as t
      on t.memory_type = replay_memory.memory_type
        and t.event_type = e.event_type
        and t.from_state = e.payload ->> 'from'
        and t.to_state = e.payload ->> 'to'
    where e.tenant_id = v_tenant_id and e.memory_id = replay_memory.memory_id
      and e.memory_type = replay_memory.memory_type
  ),
  -- The events up to the first recorded state. A fact that was stored together with its successor
  -- has two of them.
  birth as (
    select coalesce(min(e.number), 0) as number
    from told as e
    join states as s on s.place = 1 and s.image ->> 'lifecycle_state' = e.to_state
    where e.aspect = 'lifecycle_state'
  ),
  matched as (
    select
      c.place, e.event_type, e.actor, e.created_at, e.seq,
      case
        when e.number is null
        then format('no event records the change from %s to %s', c.from_state, c.to_state)
        when c.number is null
        then format('no state follows the event from %s to %s', e.from_state, e.to_state)
        when (e.from_state, e.to_state) <> (c.from_state, c.to_state)
        then format(
          'it went from %s to %s, but the event says from %s to %s',
          c.from_state, c.to_state, e.from_state, e.to_state
        )
      end as problem
    from changes as c
    full join (
      select t.*, t.number - case t.aspect when 'maturity' then 0 else b.number end as later_number
      from told as t
      cross join birth as b
      where t.aspect = 'maturity' or t.number > b.number
    ) as e on e.aspect = c.aspect and e.later_number = c.number
  )
  select
    s.place, s.known_from, s.known_to, m.event_type, m.actor,
    -- What a guarded entry says is for memory.query_memory.
    case
      when v_columns ->> 'policy' = 'billy'
      then s.image - '{content,title,category,tags,keywords,metadata}'::text []
      else s.image
    end,
    nullif(
      concat_ws(
        '; ',
        case when s.known_from <> s.expected_from then 'the state before it is missing' end,
        case when memory.image_digest(s.image) <> s.expected_digest
          then 'it was changed without a history entry'
        end,
        m.problem
      ),
      ''
    )
  from states as s
  left join lateral (
    select
      string_agg(x.event_type, ', ' order by x.seq) as event_type,
      min(x.actor) as actor,
      string_agg(x.problem, '; ' order by x.seq) as problem
    from (
      select d.event_type, d.actor, d.seq, d.problem from matched as d where d.place = s.place
      union all
      select t.event_type, t.actor, t.seq, null
      from told as t
      join birth as b on t.number <= b.number
      where s.place = 1 and t.aspect = 'lifecycle_state'
      union all
      select null, null, null, 'no event records its creation'
      where s.place = 1 and (select b.number from birth as b) = 0
    ) as x
  ) as m on true
  union all
  select null, d.created_at, null, d.event_type, d.actor, null, d.problem
  from matched as d
  where d.place is null
  order by 1, 2, 4;
end;
$$;

comment on function memory.replay_memory(text, uuid) is
'Every state of a memory or entity, rebuilt from memory.memory_history and the events, oldest '
'first; the last one is that of its row. Each has its half-open interval, the event and actor '
'that caused it, and its content (memory.image_of; times in UTC), which is left out for a guarded '
'entry. problem says where states, events and row contradict each other, and is NULL where they '
'agree. No rows for an unknown id. Errors: PM002.';
grant execute on function memory.replay_memory to memory_writer, memory_reader, memory_admin;

commit;
