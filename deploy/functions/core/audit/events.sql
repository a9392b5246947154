-- Deploy pymem:functions/core/audit/events to pg

begin;

set local role memory_owner;

create or replace function memory.list_events(
  memory_id uuid default null,
  event_type text default null,
  memory_type text default null,
  actor text default null,
  request_id text default null,
  from_at timestamptz default null,
  to_at timestamptz default null,
  before_at timestamptz default null,
  before_seq bigint default null,
  after_seq bigint default null,
  max_results integer default 50,
  as_of timestamptz default now()
)
  returns setof memory.memory_events
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- the filters in use choose the index
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform
    memory.check_number('max_results', max_results, 1, 10000),
    memory.check_time('as_of', as_of);
  if before_seq is not null and before_at is null then
    raise exception 'before_seq without before_at'
      using errcode = 'PM002', hint = 'Pass created_at and seq of the last event seen.';
  end if;
  if after_seq is not null and before_at is not null then
    raise exception 'after_seq and before_at exclude each other'
      using errcode = 'PM002', hint = 'Read on from the newest event, or back from the oldest one.';
  end if;

  if after_seq is null then
    return query
    select e.*
    from memory.memory_events as e
    where e.tenant_id = v_tenant_id
      and (list_events.memory_id is null or e.memory_id = list_events.memory_id)
      and (list_events.event_type is null or e.event_type = list_events.event_type)
      and (list_events.memory_type is null or e.memory_type = list_events.memory_type)
      and (list_events.actor is null or e.actor = list_events.actor)
      and (list_events.request_id is null or e.request_id = list_events.request_id)
      and (from_at is null or e.created_at >= from_at)
      and (to_at is null or e.created_at < to_at)
      and (before_at is null or (e.created_at, e.seq) < (before_at, coalesce(before_seq, 0)))
    order by e.created_at desc, e.seq desc
    limit max_results;
    return;
  end if;

  -- A transaction that still runs may yet show events with a smaller number. So what is younger
  -- than the oldest of these waits, but not longer than ten seconds: somebody else's long
  -- transaction does not stop the stream. An older transaction that draws its number after a
  -- younger one does not wait for it: only a seal, which writes, can tell these apart.
  return query
  select e.*
  from memory.memory_events as e
  where e.tenant_id = v_tenant_id
    and e.seq > after_seq
    and (
      e.created_at < as_of - interval '10 seconds'
      or age(e.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid)
    )
    and (list_events.memory_id is null or e.memory_id = list_events.memory_id)
    and (list_events.event_type is null or e.event_type = list_events.event_type)
    and (list_events.memory_type is null or e.memory_type = list_events.memory_type)
    and (list_events.actor is null or e.actor = list_events.actor)
    and (list_events.request_id is null or e.request_id = list_events.request_id)
    and (from_at is null or e.created_at >= from_at)
    and (to_at is null or e.created_at < to_at)
  order by e.seq
  limit max_results;
end;
$$;

comment on function memory.list_events(
  uuid, text, text, text, text, timestamptz, timestamptz, timestamptz, bigint, bigint, integer,
  timestamptz
) is
'The audit stream of the current tenant, newest first: of one memory, event type, type of memory, '
'actor or request, from from_at and before to_at, or of all. To read the next page, pass '
'created_at and seq of the last event as before_at and before_seq. To follow the stream, pass the '
'seq of the newest event as after_seq: those after it come oldest first, once no transaction that '
'began before them still runs, or after ten seconds. An event that commits when one with a larger '
'seq has been read is only in the list: whoever must not miss any reads the list, or what '
'seal_events has sealed. Errors: PM002.';
grant execute on function memory.list_events to memory_writer, memory_reader, memory_admin;

commit;
