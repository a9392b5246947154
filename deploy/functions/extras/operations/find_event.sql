-- Deploy pymem:functions/extras/operations/find_event to pg

begin;

set local role memory_owner;

create or replace function memory.find_event(
  tenant_id text,
  event_id uuid
)
  returns memory.memory_events
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_event memory.memory_events;
begin
  select e.* into v_event
  from memory.memory_events as e
  where e.tenant_id = find_event.tenant_id and e.id = event_id;
  if not found then
    raise exception 'no event has id %', coalesce(event_id::text, 'NULL')
      using errcode = 'PM001', hint = 'Find events with memory.list_events.';
  end if;
  return v_event;
end;
$$;

comment on function memory.find_event(text, uuid) is 'An event by its id. Errors: PM001.';

-- A write leaves several events: a fact that supersedes another one has the event of its creation,
-- that of the other fact and those of links. One of them stands for all, so that it does not matter
-- which of them is undone.

-- Their bodies become part of the query that asks for them.
-- noqa: disable=AM04,AM09,RF01,RF03
create or replace function memory.events_of_write(event memory.memory_events)
  returns setof memory.memory_events
  language sql
  stable
begin atomic
  select e.*
  from memory.memory_events as e
  where e.tenant_id = (event).tenant_id
    and e.created_at = (event).created_at
    and e.login = (event).login
    and e.actor is not distinct from (event).actor
    and e.request_id is not distinct from (event).request_id;
end;

-- noqa: enable=AM04,AM09,RF01,RF03

comment on function memory.events_of_write(memory.memory_events) is
'The events of the request and the transaction that an event comes from.';

create or replace function memory.changed_memory(
  event memory.memory_events,
  out memory_type text,
  out memory_id uuid
)
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  memory_type := event.memory_type;
  memory_id := event.memory_id;
  if event.event_type = 'link_created' then
    -- A link may lower the trust of its source, and comes with a contradiction of its target.
    select w.memory_type, w.memory_id into memory_type, memory_id
    from memory.events_of_write(event) as w
    where w.memory_id in (
        (event.payload ->> 'source_id')::uuid, (event.payload ->> 'target_id')::uuid
      )
      and w.event_type ~ ('^' || w.memory_type || '_')
    order by w.memory_id::text <> event.payload ->> 'source_id', w.seq
    limit 1;
  end if;
end;
$$;

comment on function memory.changed_memory(memory.memory_events) is
'The memory or entity that an event is about; of a link that was created, the one of its ends that '
'the same write created or changed, or nothing.';

create or replace function memory.images_around(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  written_at timestamptz,
  out before jsonb,
  out after jsonb,
  out today jsonb
)
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the stored images
  set extra_float_digits = 1
as $$
#variable_conflict use_column
declare
  v_before_from timestamptz;
  v_after_from timestamptz;
begin
  execute format(
    'select memory.image_of($1, to_jsonb(m)) from memory.%I as m
     where m.tenant_id = $2 and m.id = $3',
    memory.table_of(memory_type)
  ) into today using memory_type, tenant_id, memory_id;
  select min(h.known_from), max(h.known_to) into v_before_from, v_after_from
  from memory.memory_history as h
  where h.tenant_id = images_around.tenant_id and h.memory_type = images_around.memory_type
    and h.memory_id = images_around.memory_id and h.recorded_at = written_at;
  select h.image into before
  from memory.memory_history as h
  where h.tenant_id = images_around.tenant_id and h.memory_type = images_around.memory_type
    and h.memory_id = images_around.memory_id and h.known_from = v_before_from;
  select h.image into after
  from memory.memory_history as h
  where h.tenant_id = images_around.tenant_id and h.memory_type = images_around.memory_type
    and h.memory_id = images_around.memory_id
    and (v_after_from is null or h.known_from >= v_after_from)
  order by h.known_from
  limit 1;
  after := coalesce(after, today);
end;
$$;

comment on function memory.images_around(text, text, uuid, timestamptz) is
'The images of a memory or entity before and after a transaction changed it, and today. before: '
'NULL if it did not change it; after is then the first one. today: NULL once it is deleted.';

create or replace function memory.endings_by_late_facts(event memory.memory_events)
  returns table (
    ended_id uuid,
    late_id uuid
  )
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select o.id, f.id
  from memory.events_of_write(event) as u
  join memory.facts as o on o.tenant_id = u.tenant_id and o.id = u.memory_id
  cross join lateral memory.images_around(u.tenant_id, 'fact', o.id, u.created_at) as i
  join memory.events_of_write(event) as c on c.event_type = 'fact_created'
  join memory.facts as f
    on f.tenant_id = c.tenant_id and f.id = c.memory_id
      and f.scope = o.scope and f.predicate_key = o.predicate_key
      and memory.fact_anchor(f.entity_id, f.subject_key)
      = memory.fact_anchor(o.entity_id, o.subject_key)
  where u.event_type = 'fact_updated'
    and (i.after ->> 'valid_to')::timestamptz = f.valid_from
    and (i.before ->> 'valid_to')::timestamptz > f.valid_from;
$$;

comment on function memory.endings_by_late_facts(memory.memory_events) is
'The superseded facts that a write has ended earlier, each with the fact that came late and begins '
'there.';

create or replace function memory.principal_event(
  event memory.memory_events,
  in_review boolean default true
)
  returns memory.memory_events
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_memory record;
  v_found memory.memory_events;
begin
  -- What accepting a proposal did goes with it.
  if in_review and (
    event.memory_type in ('episode', 'fact', 'rule')
    or event.event_type in ('proposal_accepted', 'proposal_rejected')
  ) then
    select w.* into v_found
    from memory.events_of_write(event) as w
    join memory.consolidation_proposals as p
      on p.tenant_id = w.tenant_id and p.run_id = (w.payload ->> 'run_id')::uuid
        and p.position = (w.payload ->> 'position')::bigint
    where w.event_type in ('proposal_accepted', 'proposal_rejected')
      and p.outcome is distinct from 'its run was undone'
    order by w.seq
    limit 1;
    if found then
      return v_found;
    end if;
  end if;

  v_memory := memory.changed_memory(event);
  if v_memory.memory_id is null
    or v_memory.memory_type <> all (memory.recorded_type_names())
    or event.event_type ~ '^(proposal|contradiction|event)_'
    or event.event_type in (v_memory.memory_type || '_created', 'episode_consolidated')
  then
    return event;
  end if;

  if v_memory.memory_type in ('entity', 'fact') then
    select w.* into v_found
    from memory.events_of_write(event) as w
    where w.event_type in ('entity_merge', 'entity_unmerge')
    order by w.seq
    limit 1;
    if found then
      return v_found;
    end if;
  end if;

  -- The event of what superseded or ended it, of its own creation, of a link that came with the change, or
  -- its first one.
  select c.* into v_found
  from (
    select 1 as turn, w as found, w.seq
    from memory.events_of_write(event) as l
    join memory.events_of_write(event) as w
      on w.memory_type = l.memory_type and w.memory_id = l.memory_id
      and w.event_type = w.memory_type || '_created'
    where event.event_type <> 'link_created'
      and l.event_type = 'link_created' and l.payload ->> 'relation' = 'supersedes'
      and l.payload ->> 'target_id' = v_memory.memory_id::text
    union all
    select 1, w, w.seq
    from memory.endings_by_late_facts(event) as l
    join memory.events_of_write(event) as w
      on w.memory_id = l.late_id and w.event_type = 'fact_created'
    where event.event_type = 'fact_updated' and l.ended_id = v_memory.memory_id
    union all
    select 2, w, w.seq
    from memory.events_of_write(event) as w
    where w.memory_type = v_memory.memory_type and w.memory_id = v_memory.memory_id
      and w.event_type = w.memory_type || '_created'
    union all
    select 3, w, w.seq
    from memory.events_of_write(event) as w
    where w.event_type = 'link_created'
      and v_memory.memory_id::text in (w.payload ->> 'source_id', w.payload ->> 'target_id')
      and not exists (
        select from memory.events_of_write(event) as c
        where c.memory_type = w.memory_type and c.memory_id = w.memory_id
          and c.event_type = c.memory_type || '_created'
      )
    union all
    select 4, w, w.seq
    from memory.events_of_write(event) as w
    where w.memory_type = v_memory.memory_type and w.memory_id = v_memory.memory_id
      and w.event_type ~ ('^' || w.memory_type || '_')
    order by 1, 3
    limit 1
  ) as f
  cross join lateral (select (f.found).*) as c;
  return case when found then v_found else event end;
end;
$$;

comment on function memory.principal_event(memory.memory_events, boolean) is
'The event that stands for the write that an event comes from: of a stored memory, its creation; '
'of a change, the first event of the memory, or the link that came with it; of a merge and of the '
'review of proposals, their own. in_review false: as if proposals had not been accepted.';

commit;
