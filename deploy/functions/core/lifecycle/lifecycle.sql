-- Deploy pymem:functions/core/lifecycle/lifecycle to pg

begin;

set local role memory_owner;

create or replace function memory.confirm_observation(
  settings memory.settings,
  memory_type text,
  memory_id uuid,
  observed_at timestamptz,
  as_of timestamptz
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_state text := memory.lock_memory(settings.tenant_id, memory_type, memory_id);
begin
  if v_state is null then
    return false;
  end if;
  perform memory.check_after_creation(settings.tenant_id, memory_type, memory_id, as_of);
  if v_state not in ('active', 'fading') then
    raise exception '% % is % and cannot be confirmed', memory_type, memory_id, v_state
      using errcode = 'PM003', hint = 'Store it again if it still holds.';
  end if;
  perform memory.renew_memory(settings, memory_type, memory_id, observed_at, as_of);
  return true;
end;
$$;

comment on function memory.confirm_observation(
  memory.settings, text, uuid, timestamptz, timestamptz
) is
'Confirms a fact or rule as of as_of, by what was observed at observed_at (NULL: nothing new was). '
'Returns false for an unknown id. Errors: PM002 as_of before its creation, PM003 as '
'confirm_memory.';

create or replace function memory.confirm_memory(
  memory_type text,
  memory_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
begin
  if memory_type = 'episode' then
    raise exception 'an episode cannot be confirmed'
      using errcode = 'PM002', hint = 'Confirm a fact or a rule; an episode does not decay.';
  end if;
  perform memory.check_word('memory_type', memory_type, memory.decaying_type_names());
  perform memory.check_write_time('as_of', as_of);
  return memory.confirm_observation(v_settings, memory_type, memory_id, as_of, as_of);
end;
$$;

comment on function memory.confirm_memory(text, uuid, timestamptz) is
'Confirms a fact or rule: its decay restarts at as_of, and a fading one recovers. Returns false '
'for an unknown id. Errors: PM002 an episode or invalid argument, PM003 superseded, expired, '
'retracted or forgotten.';
grant execute on function memory.confirm_memory to memory_writer;

create or replace function memory.forget_memory(
  memory_type text,
  memory_id uuid,
  as_of timestamptz default now()
)
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_word('memory_type', memory_type, memory.memory_type_names());
  perform memory.check_write_time('as_of', as_of);
  if not memory.memory_exists(v_tenant_id, memory_type, memory_id) then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, memory_type, memory_id, as_of);

  perform memory.hide_memory(v_tenant_id, memory_type, memory_id, as_of);
  return true;
end;
$$;

comment on function memory.forget_memory(text, uuid, timestamptz) is
'Forgets a memory: an episode expires at as_of, a fact is retracted, a rule is marked forgotten. '
'It is no longer found, but stays for audit. Forgetting again changes nothing and returns true; '
'an unknown id returns false. Errors: PM002.';
grant execute on function memory.forget_memory to memory_writer;

create or replace function memory.get_memory(
  memory_type text,
  memory_id uuid,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_memory jsonb;
begin
  perform memory.check_word('memory_type', memory_type, memory.memory_type_names());
  perform memory.check_write_time('as_of', as_of);

  -- Reading must also work on a standby, where nothing can be counted.
  if memory.can_write() then
    perform memory.count_references(array[memory_type], array[memory_id], as_of);
  end if;
  v_memory := memory.columns_of_memory(v_tenant_id, memory_type, memory_id);
  if v_memory ->> 'policy' = 'billy' then
    perform memory.refuse_guarded(memory_type, memory_id);
  end if;
  return v_memory || jsonb_build_object('memory_type', memory_type);
end;
$$;

comment on function memory.get_memory(text, uuid, timestamptz) is
'Returns one memory in any state as a JSON object of all its columns except vectors. Counts as a '
'reference to it, unless the transaction is read-only; the returned counters include this one. '
'NULL for an unknown id. Errors: PM002, PM008 a guarded entry.';
grant execute on function memory.get_memory to memory_writer;

commit;
