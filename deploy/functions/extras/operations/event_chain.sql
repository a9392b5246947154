-- Deploy pymem:functions/extras/operations/event_chain to pg

begin;

set local role memory_owner;

create or replace function memory.event_digest(event memory.memory_events)
  returns bytea
  language sql
  stable
  parallel safe
  return sha256(convert_to(
    jsonb_build_array(
      event.tenant_id, event.id, event.seq, event.event_type, event.memory_type, event.memory_id,
      event.actor, event.login, event.request_id, event.reason, event.payload,
      extract(epoch from event.created_at)
    )::text,
    'UTF8'
  ));

comment on function memory.event_digest(memory.memory_events) is
'SHA-256 of all columns of an event as a JSON array; the time in seconds since 1970.';

create or replace function memory.settled_seq(tenant_id text)
  returns bigint
  language sql
  stable
  return coalesce(
    (
      select h.settled_seq from memory.event_chain_heads as h
      where h.tenant_id = settled_seq.tenant_id -- noqa: RF01
    ),
    0
  );

comment on function memory.settled_seq(text) is
'Up to which event every one of a tenant is sealed, now and in future: at least 0.';

-- begin atomic instead of SET search_path, so that the planner inlines the function. One look-up
-- for each event, because a join would read the whole chain.
create or replace function memory.unsealed_events(tenant_id text)
  returns table (
    id uuid,
    seq bigint,
    created_at timestamptz,
    digest bytea
  )
  language sql
  stable
begin atomic
  select e.id, e.seq, e.created_at, memory.event_digest(e) as digest
  from memory.memory_events as e
  where e.tenant_id = unsealed_events.tenant_id -- noqa: RF01
    and e.seq > memory.settled_seq(unsealed_events.tenant_id) -- noqa: RF01
    and (
      select c.position from memory.event_chain as c
      where c.tenant_id = e.tenant_id and c.event_id = e.id
    ) is null;
end;

comment on function memory.unsealed_events(text) is
'The events of a tenant that wait for their seal.';

create or replace function memory.settle_seals(
  head memory.event_chain_heads,
  oldest_xid xid8,
  last_seq bigint
)
  returns void
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_own_xid xid8 := pg_current_xact_id();
  v_settled_seq bigint;
  v_later_xid bigint;
begin
  -- A note of another server (a dump, a tenant that has moved) may be of a transaction to come.
  if head.noted_xid > oldest_xid and head.noted_xid < v_own_xid then
    return;
  end if;
  v_settled_seq := case
    when head.noted_xid <= oldest_xid then head.noted_seq else head.settled_seq
  end;
  if last_seq <= v_settled_seq then
    update memory.event_chain_heads as h
    set settled_seq = v_settled_seq, noted_seq = null, noted_xid = null
    where h.tenant_id = head.tenant_id and h.noted_seq is not null;
    return;
  end if;
  -- Whoever draws the number of an event has an id before (memory.assign_xid). So all that drew
  -- one before last_seq have earlier ids than a subtransaction that begins now.
  begin
    update memory.event_chain_heads as h
    set settled_seq = v_settled_seq, noted_seq = last_seq, noted_xid = v_own_xid
    where h.tenant_id = head.tenant_id
    returning h.xmin::text::bigint into v_later_xid;
  exception
    when others then raise; -- makes the block a subtransaction
  end;
  -- xmin has the lower 32 bits.
  update memory.event_chain_heads as h
  set noted_xid = (
    v_own_xid::text::bigint + (v_later_xid - v_own_xid::text::bigint & 4294967295)
  )::text::xid8
  where h.tenant_id = head.tenant_id;
end;
$$;

comment on function memory.settle_seals(memory.event_chain_heads, xid8, bigint) is
'Advances the mark up to which no event of a tenant is left to seal, after a seal of all that was '
'visible, the last one of them last_seq (0: none). oldest_xid: no older transaction ran then.';

create or replace function memory.seal_events(max_events integer default 1000000)
  returns table (
    sealed bigint,
    "position" bigint, -- noqa: RF06
    hash bytea
  )
  language plpgsql
  volatile
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_head memory.event_chain_heads;
  v_oldest_xid xid8;
  v_last_seq bigint;
begin
  perform memory.check_number('max_events', max_events, 1, 100000000);
  insert into memory.event_chain_heads as h (tenant_id, position, hash, sealed_at)
  values (v_tenant_id, 0, '', now())
  on conflict (tenant_id) do nothing;
  -- One session at a time per tenant; what another one has just sealed is visible below.
  select h.* into v_head
  from memory.event_chain_heads as h
  where h.tenant_id = v_tenant_id
  for no key update;
  -- What older transactions have written is visible below, all of it.
  v_oldest_xid := pg_snapshot_xmin(pg_current_snapshot());

  with fresh as (
    select e.id, e.seq, e.digest
    from memory.unsealed_events(v_tenant_id) as e
    order by e.seq
    limit max_events
  ),
  chained as (
    select
      f.id,
      f.digest,
      row_number() over in_order as number,
      memory.chain_hash(v_head.hash, f.digest) over in_order as hash
    from fresh as f
    window in_order as (order by f.seq rows unbounded preceding)
  ),
  stored as (
    insert into memory.event_chain (tenant_id, position, event_id, event_digest, hash)
    select v_tenant_id, v_head.position + c.number, c.id, c.digest, c.hash
    from chained as c
    order by c.number
    returning position, hash
  )
  select
    count(*), max(s.position), (array_agg(s.hash order by s.position desc))[1],
    coalesce(
      (select max(e.seq) from memory.memory_events as e where e.tenant_id = v_tenant_id), 0
    )
  into sealed, position, hash, v_last_seq
  from stored as s;

  if sealed > 0 then
    update memory.event_chain_heads as h
    set position = seal_events.position, hash = seal_events.hash, sealed_at = now()
    where h.tenant_id = v_tenant_id;
  else
    position := v_head.position;
    hash := v_head.hash;
  end if;
  if sealed < max_events then
    perform memory.settle_seals(v_head, v_oldest_xid, v_last_seq);
  end if;
  return next;
end;
$$;

comment on function memory.seal_events(integer) is
'Seals the events since the last seal: appends each new event, at most max_events, to the hash '
'chain of the tenant. Runs apart from the transactions that write events, so that these never wait '
'for each other. What the mark settled_seq of event_chain_heads has passed is not looked at again: '
'verify_chain finds an event that somebody inserts there. Returns how many were sealed, and the '
'end of the chain: keep a copy elsewhere, for memory.verify_chain. Errors: PM002.';
grant execute on function memory.seal_events to memory_worker;

create or replace function memory.get_chain_head()
  returns table (
    "position" bigint, -- noqa: RF06
    hash bytea,
    sealed_at timestamptz
  )
  language plpgsql
  stable
  rows 1
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select h.position, h.hash, h.sealed_at
  from memory.event_chain_heads as h
  where h.tenant_id = memory.current_tenant();
end;
$$;

comment on function memory.get_chain_head() is
'The end of the hash chain of the tenant: how many events are sealed, and the hash that covers '
'them all. No row before the first seal.';
grant execute on function memory.get_chain_head to memory_worker, memory_reader, memory_admin;

create or replace function memory.check_guards()
  returns setof memory.chain_problem
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select
    'guard removed', null::bigint, null::uuid, null::text, null::uuid,
    format('memory.%I has the rule %I', c.relname, r.rulename)
  from pg_rewrite as r
  join pg_class as c on c.oid = r.ev_class
  where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p')
  union all
  select
    'guard removed', null, null, null, null,
    format('the trigger %I of memory.%I is disabled', t.tgname, c.relname)
  from pg_trigger as t
  join pg_class as c on c.oid = t.tgrelid
  where c.relnamespace = 'memory'::regnamespace and t.tgenabled not in ('O', 'A')
  union all
  select
    'guard removed', null, null, null, null,
    format('the trigger %I of memory.%I is not set to ENABLE ALWAYS', g.trigger, g.relation)
  from (values
    ('memory_events', 'refuse_change'),
    ('memory_events', 'refuse_truncate'),
    ('event_chain', 'refuse_change'),
    ('event_chain', 'refuse_truncate'),
    ('event_chain_heads', 'refuse_change'),
    ('event_chain_heads', 'refuse_truncate')
  ) as g (relation, trigger)
  where not exists (
    select from pg_trigger as t
    where t.tgrelid = format('memory.%I', g.relation)::regclass and t.tgname = g.trigger
      and t.tgenabled = 'A'
  );
$$;

comment on function memory.check_guards() is
'Changes by an owner or superuser that allow writes to bypass the audit: rewrite rules, and '
'triggers that are disabled or dropped.';

create or replace function memory.check_seals(tenant_id text)
  returns setof memory.chain_problem
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off
as $$
  select
    p.problem, c.position, c.event_id, c.memory_type, c.memory_id,
    case p.problem
      when 'event missing' then 'the sealed event no longer exists'
      when 'event changed' then 'the event differs from the sealed one'
      when 'seal missing' then format('seals are missing from position %s on', c.expected_position)
      else 'the hash does not follow from the previous one'
    end
  from (
    select
      s.position, s.event_id, e.memory_type, e.memory_id, e.id is null as is_missing,
      s.event_digest <> memory.event_digest(e) as is_changed,
      1 + coalesce(lag(s.position) over in_order, 0) as expected_position,
      s.hash <> sha256(coalesce(lag(s.hash) over in_order, '') || s.event_digest) as is_broken
    from memory.event_chain as s
    left join memory.memory_events as e on e.tenant_id = s.tenant_id and e.id = s.event_id
    where s.tenant_id = check_seals.tenant_id
    window in_order as (order by s.position)
  ) as c
  cross join lateral (
    select case
      when c.position <> c.expected_position then 'seal missing'
      when c.is_broken then 'seal changed'
      when c.is_missing then 'event missing'
      when c.is_changed then 'event changed'
    end as problem
  ) as p
  where p.problem is not null
  union all
  select
    'chain cut off', h.position, null, null, null,
    format('%s events were sealed up to the hash %s', h.position, encode(h.hash, 'hex'))
  from memory.event_chain_heads as h
  where h.tenant_id = check_seals.tenant_id
    and h.position > 0
    and not exists (
      select from memory.event_chain as s
      where s.tenant_id = h.tenant_id and s.position = h.position and s.hash = h.hash
    )
  union all
  select
    'chain cut off', s.position, s.event_id, null, null, 'seals exist beyond the end of the chain'
  from memory.event_chain as s
  left join memory.event_chain_heads as h on h.tenant_id = s.tenant_id
  where s.tenant_id = check_seals.tenant_id and s.position = coalesce(h.position, 0) + 1
  union all
  select
    'event unsealed', null, e.id, e.memory_type, e.memory_id,
    'events that were written later are sealed'
  from memory.memory_events as e
  join memory.event_chain_heads as h on h.tenant_id = e.tenant_id and e.seq <= h.settled_seq
  where e.tenant_id = check_seals.tenant_id
    and not exists (
      select from memory.event_chain as s where s.tenant_id = e.tenant_id and s.event_id = e.id
    );
$$;

comment on function memory.check_seals(text) is
'Contradictions between the hash chain of a tenant, its events and its end.';

create or replace function memory.check_event_coverage(tenant_id text)
  returns setof memory.chain_problem
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off
as $$
  with memories as (
    select m.memory_type, m.id, m.lifecycle_state
    from memory.searchable_memories as m where m.tenant_id = check_event_coverage.tenant_id
    union all
    select 'entity', n.id, n.lifecycle_state
    from memory.entities as n where n.tenant_id = check_event_coverage.tenant_id
    union all
    select 'item', i.id, i.lifecycle_state
    from memory.store_items as i where i.tenant_id = check_event_coverage.tenant_id
  ),
  -- The last event of each memory that records its state.
  told as (
    select distinct on (e.memory_id)
      e.memory_type, e.memory_id, e.id as event_id, e.payload ->> 'to' as state
    from memory.memory_events as e
    join memory.transitions as t
      on t.memory_type = e.memory_type
        and t.aspect = 'lifecycle_state'
        and t.event_type = e.event_type
        and t.from_state = e.payload ->> 'from'
        and t.to_state = e.payload ->> 'to'
    where e.tenant_id = check_event_coverage.tenant_id
    order by e.memory_id, e.seq desc
  )
  select
    case
      when t.memory_id is null then 'memory without event'
      when m.id is null then 'memory missing'
      else 'state without event'
    end,
    null::bigint, t.event_id, coalesce(m.memory_type, t.memory_type), coalesce(m.id, t.memory_id),
    case
      when t.memory_id is null then 'no event records its creation'
      when m.id is null then format('the last event records the state %s', t.state)
      else format(
        'its state is %s, but the last event records %s', m.lifecycle_state, t.state
      )
    end
  from memories as m
  full join told as t on t.memory_id = m.id and t.memory_type = m.memory_type
  where m.id is null and t.state <> '[*]'
    or t.memory_id is null
    or m.lifecycle_state <> t.state;
$$;

comment on function memory.check_event_coverage(text) is
'Memories without events, and memories whose rows and events disagree.';

-- The events of these tables tell which rows exist, so they need no digest of their own.
create or replace function memory.check_row_coverage(tenant_id text)
  returns setof memory.chain_problem
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off
as $$
  with told_links as (
    select distinct on (k.source_type, k.source_id, k.target_type, k.target_id)
      e.id as event_id, e.event_type, k.source_type, k.source_id, k.target_type, k.target_id,
      k.relation
    from memory.memory_events as e
    cross join lateral jsonb_to_record(e.payload) as k (
      source_type text, source_id uuid, target_type text, target_id uuid, relation text
    )
    where e.tenant_id = check_row_coverage.tenant_id
      and e.event_type in ('link_created', 'link_updated', 'link_deleted')
    order by k.source_type, k.source_id, k.target_type, k.target_id, e.seq desc
  ),
  links as (
    select l.source_type, l.source_id, l.target_type, l.target_id, l.relation
    from memory.memory_links as l
    where l.tenant_id = check_row_coverage.tenant_id
  ),
  told_logins as (
    select distinct on (s.login) s.login, e.id as event_id, s.is_bound
    from memory.memory_events as e
    cross join lateral (values
      (1, e.payload -> 'old' ->> 'login', false), (2, e.payload -> 'new' ->> 'login', true)
    ) as s (place, login, is_bound)
    where e.tenant_id = check_row_coverage.tenant_id
      and e.event_type in ('tenant_login_created', 'tenant_login_updated', 'tenant_login_deleted')
      and s.login is not null
    order by s.login, e.seq desc, s.place desc
  ),
  logins as (
    select l.login::text as login
    from memory.tenant_logins as l
    where l.tenant_id = check_row_coverage.tenant_id
  ),
  told_tokens as (
    select distinct on (e.memory_id)
      e.memory_id, e.id as event_id, e.event_type, e.payload ->> 'digest' as digest
    from memory.memory_events as e
    where e.tenant_id = check_row_coverage.tenant_id and e.memory_type = 'access_token'
    order by e.memory_id, e.seq desc
  ),
  tokens as (
    select t.id, t.revoked_at, memory.access_token_digest(t) as digest
    from memory.access_tokens as t
    where t.tenant_id = check_row_coverage.tenant_id
  )
  select
    case
      when l.source_id is null then 'row missing'
      when t.event_id is null or t.event_type = 'link_deleted' then 'row without event'
      else 'row changed'
    end,
    null::bigint, t.event_id, coalesce(l.source_type, t.source_type),
    coalesce(l.source_id, t.source_id),
    format(
      'its link to the %s %s is %s, but the last event records %s',
      coalesce(l.target_type, t.target_type), coalesce(l.target_id, t.target_id),
      coalesce(l.relation, 'missing'),
      case when t.event_type <> 'link_deleted' then t.relation else 'none' end
    )
  from links as l
  full join told_links as t
    on t.source_id = l.source_id and t.target_id = l.target_id
      and t.source_type = l.source_type and t.target_type = l.target_type
  where l.relation is distinct from
    case when t.event_type <> 'link_deleted' then t.relation end
  union all
  select
    case when l.login is null then 'row missing' else 'row without event' end,
    null, t.event_id, null, null,
    case
      when l.login is null
      then format('the login %I is not bound to the tenant, but the last event says so', t.login)
      else format('the login %I is bound to the tenant, but no event says so', l.login)
    end
  from logins as l
  full join told_logins as t on t.login = l.login
  where (l.login is not null) <> coalesce(t.is_bound, false)
  union all
  select
    case
      when k.id is null then 'row missing'
      when t.event_id is null then 'row without event'
      else 'row changed'
    end,
    null, t.event_id, 'access_token', coalesce(k.id, t.memory_id),
    case
      when k.id is null then 'the access token no longer exists'
      when t.event_id is null then 'no event records its creation'
      else 'its rights, its end or the token itself differ from those of the last event'
    end
  from tokens as k
  full join told_tokens as t on t.memory_id = k.id
  where k.id is null
    or t.memory_id is null
    or k.digest <> t.digest
    -- Events of earlier versions have no digest.
    or t.event_type = 'access_token_revoked' and k.revoked_at is null;
$$;

comment on function memory.check_row_coverage(text) is
'Links, bound logins and access tokens whose rows and events disagree.';

create or replace function memory.check_states(tenant_id text)
  returns setof memory.chain_problem
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
  set timezone = 'UTC' -- like the stored images
  set extra_float_digits = 1
  set jit = off
as $$
declare
  v_type memory.memory_types;
  v_columns text;
begin
  for v_type in
    select t.* from memory.memory_types as t order by t.position
  loop
    -- Named, because whole rows would detoast the vectors.
    v_columns := (
      select string_agg(format('m.%I', c.column_name), ', ')
      from memory.changing_columns(v_type.memory_type) as c
    );
    -- If the digest of all columns differs, only those that the history has count: a column that
    -- was added later is in no digest yet. Where an erasure has deleted the latest state, or a
    -- column was dropped, there is no digest for the row.
    return query execute format(
      $query$
        select
          'row changed', null::bigint, null::uuid, %L, m.id,
          'it differs from the state that its history recorded last'
        from memory.%I as m
        join memory.memory_history as h
          on h.tenant_id = m.tenant_id and h.memory_type = %L and h.memory_id = m.id
            and h.known_to = m.updated_at
        cross join lateral (select to_jsonb(s) as image from (select %s) as s) as i
        where m.tenant_id = $1
          and case
            when memory.image_digest(i.image) = h.successor_digest then false
            else (
              select
                bool_and(i.image ? k.key)
                and memory.image_digest(jsonb_object_agg(k.key, i.image -> k.key))
                  <> h.successor_digest
              from jsonb_object_keys(h.image) as k (key)
            )
          end
      $query$,
      v_type.memory_type, v_type.table_name, v_type.memory_type, v_columns
    ) using check_states.tenant_id;
  end loop;
end;
$$;

comment on function memory.check_states(text) is
'Memories and entities that have changed at least once, and whose columns differ from the digest '
'that their history has of their present state. Does not cover what the history leaves out '
'(memory.unrecorded_columns), nor the history itself.';

create or replace function memory.verify_chain(
  anchor_position bigint default null,
  anchor_hash bytea default null,
  max_results integer default 100
)
  returns setof memory.chain_problem
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform memory.check_number('max_results', max_results, 1, 10000);
  if (anchor_position is null) <> (anchor_hash is null) then
    raise exception 'an anchor needs a position and a hash'
      using errcode = 'PM002', hint = 'Pass both, as memory.seal_events returned them.';
  end if;

  return query
  select p.*
  from (
    select c.* from memory.check_seals(v_tenant_id) as c
    union all
    select
      'chain cut off', anchor_position, null, null, null,
      'the chain does not contain the hash of the anchor'
    where anchor_position is not null and not exists (
      select from memory.event_chain as s
      where s.tenant_id = v_tenant_id and s.position = anchor_position and s.hash = anchor_hash
    )
    union all
    select g.* from memory.check_guards() as g
    union all
    select format('definition %s', d.problem), null, null, null, null, d.summary
    from memory.summarize_definitions() as d
    union all
    select e.* from memory.check_event_coverage(v_tenant_id) as e
    union all
    select r.* from memory.check_row_coverage(v_tenant_id) as r
    union all
    select s.* from memory.check_states(v_tenant_id) as s
  ) as p
  order by p.position, p.problem, p.memory_type, p.memory_id, p.event_id, p.detail
  limit max_results;
end;
$$;

comment on function memory.verify_chain(bigint, bytea, integer) is
'What contradicts the hash chain of the tenant, ordered by position: events or seals that were '
'changed, removed or inserted, a chain that was cut off, rules and triggers that allow writes to '
'bypass the audit, functions, triggers, policies and tables that differ from the schema as '
'deployed, rows whose events disagree with them (memories, links, bound logins, access tokens), '
'and memories that differ from their last recorded state. No rows: no problems. With an anchor, a '
'result of memory.seal_events that was kept elsewhere, this also detects a rebuilt chain. Events '
'since the last seal are not covered, unless they claim to be older. Errors: PM002.';
grant execute on function memory.verify_chain to memory_worker, memory_reader, memory_admin;

commit;
