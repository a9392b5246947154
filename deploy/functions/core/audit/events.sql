-- Deploy pymem:functions/core/audit/events to pg

begin;

set local role memory_owner;

create or replace function memory.list_events(
  memory_id uuid default null,
  event_type text default null,
  before_at timestamptz default null,
  before_seq bigint default null,
  max_results integer default 50
)
  returns setof memory.memory_events
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set plan_cache_mode = force_custom_plan -- the filters in use choose the index
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_number('max_results', max_results, 1, 10000);
  if before_seq is not null and before_at is null then
    raise exception 'before_seq without before_at'
      using errcode = 'PM002', hint = 'Pass created_at and seq of the last event seen.';
  end if;

  return query
  select e.*
  from memory.memory_events as e
  where e.tenant_id = v_tenant_id
    and (list_events.memory_id is null or e.memory_id = list_events.memory_id)
    and (list_events.event_type is null or e.event_type = list_events.event_type)
    and (before_at is null or (e.created_at, e.seq) < (before_at, coalesce(before_seq, 0)))
  order by e.created_at desc, e.seq desc
  limit max_results;
end;
$$;

comment on function memory.list_events(uuid, text, timestamptz, bigint, integer) is
'The audit stream of the current tenant, newest first, optionally of one memory or event type. To '
'read the next page, pass created_at and seq of the last event as before_at and before_seq. '
'Errors: PM002.';
grant execute on function memory.list_events to memory_writer, memory_reader, memory_admin;

commit;
