-- Deploy pymem:functions/extras/entries/expire_memory to pg

begin;

set local role memory_owner;

create or replace function memory.expire_memory(as_of timestamptz default now())
  returns table (
    expired bigint,
    faded bigint
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
begin
  perform memory.check_write_time('as_of', as_of);
  with due as (
    select e.id
    from memory.entries as e
    where e.tenant_id = v_tenant_id and e.lifecycle_state = 'guarded' and e.created_at <= as_of
      and (
        e.expires_at <= as_of
        or memory.guarded_confidence(e.confidence, e.decay_rate, e.last_confirmed_at, as_of)
          < v_settings.expiry_threshold
      )
    order by e.id
    for no key update
  ),
  ended as (
    update memory.entries as e
    set expired_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
    from due as d
    where e.tenant_id = v_tenant_id and e.id = d.id
    returning coalesce(e.expires_at <= as_of, false) as is_expired
  )
  select count(*) filter (where n.is_expired), count(*) filter (where not n.is_expired)
  into expired, faded
  from ended as n;
  return next;
end;
$$;

comment on function memory.expire_memory(timestamptz) is
'Ends the guarded entries that have expired, or whose effective confidence fell below the setting '
'expiry_threshold (0.05), each with an event memory_expired that says which. They do not return; '
'30 days later memory.run_entry_upkeep deletes them for good. Returns how many expired and how '
'many faded. Errors: PM002.';
grant execute on function memory.expire_memory to memory_worker;

commit;
