-- Deploy pymem:functions/core/lifecycle/lifecycle to pg

begin;

set local role memory_owner;

create or replace function memory.check_after_creation(
  tenant_id text,
  memory_type text,
  memory_id uuid,
  as_of timestamptz
)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_created_at timestamptz := case memory_type
    when 'episode' then (
      select e.created_at from memory.episodes as e
      where e.tenant_id = check_after_creation.tenant_id and e.id = memory_id
    )
    when 'fact' then (
      select f.created_at from memory.facts as f
      where f.tenant_id = check_after_creation.tenant_id and f.id = memory_id
    )
    when 'rule' then (
      select r.created_at from memory.rules as r
      where r.tenant_id = check_after_creation.tenant_id and r.id = memory_id
    )
    else (
      select e.created_at from memory.entities as e
      where e.tenant_id = check_after_creation.tenant_id and e.id = memory_id
    )
  end;
begin
  if as_of < v_created_at then
    raise exception 'as_of lies before % % was created: %', memory_type, memory_id, as_of
      using errcode = 'PM002', hint = format('Pass a time from %s on.', v_created_at);
  end if;
end;
$$;

comment on function memory.check_after_creation(text, text, uuid, timestamptz) is
'Refuses a time before a memory or an entity was created; an unknown one has none. Errors: PM002.';

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
  v_tenant_id text := v_settings.tenant_id;
  v_state text;
begin
  if memory_type = 'episode' then
    raise exception 'an episode cannot be confirmed'
      using errcode = 'PM002', hint = 'Confirm a fact or a rule; an episode does not decay.';
  end if;
  perform memory.check_word('memory_type', memory_type, '{fact,rule}');
  perform memory.check_write_time('as_of', as_of);

  if memory_type = 'fact' then
    select f.lifecycle_state into v_state
    from memory.facts as f
    where f.tenant_id = v_tenant_id and f.id = memory_id
    for no key update;
  else
    select r.lifecycle_state into v_state
    from memory.rules as r
    where r.tenant_id = v_tenant_id and r.id = memory_id
    for no key update;
  end if;
  if not found then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, memory_type, memory_id, as_of);
  if v_state not in ('active', 'fading') then
    raise exception '% % is % and cannot be confirmed', memory_type, memory_id, v_state
      using errcode = 'PM003', hint = 'Store it anew if it holds after all.';
  end if;

  -- The freshly confirmed value is the stored confidence: what the next sweep would do about the
  -- fading mark is done at once.
  if memory_type = 'fact' then
    update memory.facts as f
    set
      last_confirmed_at = greatest(f.last_confirmed_at, as_of),
      updated_at = memory.next_state_at(f.updated_at, as_of),
      metadata = case
        when f.confidence >= v_settings.fading_threshold then f.metadata - 'status'
        else f.metadata
      end
    where f.tenant_id = v_tenant_id and f.id = memory_id;
  else
    update memory.rules as r
    set
      last_confirmed_at = greatest(r.last_confirmed_at, as_of),
      updated_at = memory.next_state_at(r.updated_at, as_of),
      metadata = case
        when r.confidence >= v_settings.fading_threshold then r.metadata - 'status'
        else r.metadata
      end
    where r.tenant_id = v_tenant_id and r.id = memory_id;
  end if;
  return true;
end;
$$;

comment on function memory.confirm_memory(text, uuid, timestamptz) is
'Confirms a fact or rule: its decay starts again at as_of, and a fading one recovers. Returns '
'false when there is none with this id. Errors: PM002 an episode or invalid argument, PM003 '
'superseded, expired, retracted or forgotten.';
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
  perform memory.check_word('memory_type', memory_type, '{episode,fact,rule}');
  perform memory.check_write_time('as_of', as_of);
  if not memory.memory_exists(v_tenant_id, memory_type, memory_id) then
    return false;
  end if;
  perform memory.check_after_creation(v_tenant_id, memory_type, memory_id, as_of);

  case memory_type
    when 'episode' then
      update memory.episodes as e
      set expires_at = as_of, updated_at = memory.next_state_at(e.updated_at, as_of)
      where e.tenant_id = v_tenant_id and e.id = memory_id
        and (e.expires_at is null or e.expires_at > as_of);
    when 'fact' then
      update memory.facts as f
      set
        validity = 'retracted',
        metadata = f.metadata - 'status',
        updated_at = memory.next_state_at(f.updated_at, as_of)
      where f.tenant_id = v_tenant_id and f.id = memory_id
        and f.validity <> 'retracted';
    else
      update memory.rules as r
      set
        metadata = (r.metadata - 'status') || '{"forgotten": true}',
        updated_at = memory.next_state_at(r.updated_at, as_of)
      where r.tenant_id = v_tenant_id and r.id = memory_id
        and r.lifecycle_state <> 'retracted';
  end case;
  return true;
end;
$$;

comment on function memory.forget_memory(text, uuid, timestamptz) is
'Forgets a memory: an episode expires at as_of, a fact is retracted, a rule is marked forgotten. '
'It is found no more and stays for audit. Forgetting again changes nothing and returns true; '
'false means there is none with this id. Errors: PM002.';
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
  v_hidden text[] := array['tenant_id', 'embedding', 'search_vector'];
  v_memory jsonb;
begin
  perform memory.check_word('memory_type', memory_type, '{episode,fact,rule}');
  perform memory.check_write_time('as_of', as_of);

  case memory_type
    when 'episode' then
      update memory.episodes as e
      set
        reference_count = e.reference_count + 1,
        last_referenced_at = greatest(e.last_referenced_at, as_of)
      where e.tenant_id = v_tenant_id and e.id = memory_id
      returning to_jsonb(e) - v_hidden into v_memory;
    when 'fact' then
      update memory.facts as f
      set
        reference_count = f.reference_count + 1,
        last_referenced_at = greatest(f.last_referenced_at, as_of)
      where f.tenant_id = v_tenant_id and f.id = memory_id
      returning to_jsonb(f) - v_hidden into v_memory;
    else
      update memory.rules as r
      set
        reference_count = r.reference_count + 1,
        last_referenced_at = greatest(r.last_referenced_at, as_of)
      where r.tenant_id = v_tenant_id and r.id = memory_id
      returning to_jsonb(r) - v_hidden into v_memory;
  end case;
  return v_memory || jsonb_build_object('memory_type', memory_type);
end;
$$;

comment on function memory.get_memory(text, uuid, timestamptz) is
'One memory in any state as a JSON object of all its columns but the vectors, and counts as a '
'reference to it; the counters are those after it. NULL when there is none with this id. Errors: '
'PM002.';
grant execute on function memory.get_memory to memory_writer;

commit;
