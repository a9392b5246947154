-- Deploy pymem:functions/extras/conversations/store_observations to pg

begin;

set local role memory_owner;

create or replace function memory.open_episodes(
  tenant_id text,
  episode_ids uuid[],
  as_of timestamptz
)
  returns setof memory.episodes
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select e.*
  from memory.episodes as e
  where e.tenant_id = open_episodes.tenant_id and e.id = any (episode_ids)
    and e.consolidation_status in ('pending', 'failed')
    and (e.expires_at is null or e.expires_at > as_of)
    and not exists (
      select
      from memory.consolidation_runs as r
      where r.tenant_id = open_episodes.tenant_id and r.butler = e.butler and r.status = 'running'
        and r.leased_until > as_of and e.id = any (r.episode_ids)
    );
$$;

comment on function memory.open_episodes(text, uuid[], timestamptz) is
'Those of the episodes that wait for consolidation, and that no run of consolidation holds.';

create or replace function memory.list_turns(
  episode_ids uuid[],
  as_of timestamptz default now()
)
  returns table (
    episode_id uuid,
    content text,
    source_class text,
    created_at timestamptz
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
  perform memory.check_time('as_of', as_of);
  return query
  select e.id, e.content, e.source_class, e.created_at
  from memory.open_episodes(v_tenant_id, episode_ids, as_of) as e
  order by e.created_at, e.id;
end;
$$;

comment on function memory.list_turns(uuid[], timestamptz) is
'Those of the episodes that observations can be extracted from, as turns in order: they wait for '
'consolidation, and no run of consolidation holds them. Errors: PM002.';
grant execute on function memory.list_turns to memory_writer;

create or replace function memory.store_observations(
  episode_ids uuid[],
  observations jsonb,
  as_of timestamptz default now()
)
  returns table (
    ordinal bigint,
    id uuid
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_open memory.episodes[];
  v_bad record;
  v_ids uuid[];
begin
  perform memory.check_write_time('as_of', as_of);
  perform memory.check_elements(
    'observation', observations,
    '{"content": "string", "importance": "number", "metadata": "object", "evidence": "array"}'
  );
  select o.ordinal, v.value into v_bad
  from jsonb_array_elements(observations) with ordinality as o (observation, ordinal)
  left join lateral jsonb_array_elements(
    case jsonb_typeof(o.observation -> 'evidence')
      when 'array' then o.observation -> 'evidence'
    end
  ) as v (value) on true
  where v.value is null
    or coalesce(lower(v.value #>> '{}'), '') <> all (coalesce(episode_ids::text[], '{}'))
  order by o.ordinal, v.value
  limit 1;
  if found then
    raise exception 'evidence of observation % is %',
      v_bad.ordinal, coalesce(left(v_bad.value::text, 100), 'empty')
      using errcode = 'PM002', hint = 'Pass ids that episode_ids holds, at least one.';
  end if;

  -- All or none: an episode that has been forgotten or erased in the meantime leaves no trace, and
  -- what a run of consolidation holds is not made use of twice.
  perform
  from memory.episodes as e
  where e.tenant_id = v_tenant_id and e.id = any (episode_ids)
  order by e.id
  for no key update;
  v_open := array(
    select e from memory.open_episodes(v_tenant_id, episode_ids, as_of) as e order by e.id
  );
  if cardinality(v_open) <> (select count(distinct i.id) from unnest(episode_ids) as i (id)) then
    return;
  end if;
  if exists (
    select
    from unnest(v_open) as e
    where (e.butler, e.session_id) is distinct from (v_open[1].butler, v_open[1].session_id)
  ) then
    raise exception 'the episodes are of several sessions'
      using errcode = 'PM002', hint = 'Pass the episodes of one butler and session.';
  end if;

  select array_agg(s.id order by s.ordinal) into v_ids
  from memory.store_episodes(
    (
      select
        coalesce(
          jsonb_agg(
            jsonb_strip_nulls(
              jsonb_build_object(
                'content', o.observation -> 'content', 'butler', v_open[1].butler,
                'session_id', v_open[1].session_id, 'importance', o.observation -> 'importance',
                'source_class', e.source_class, 'created_at', e.created_at,
                'idempotency_key', 'observation:' || encode(
                  sha256(convert_to(
                    jsonb_build_array(e.ids, o.observation -> 'content')::text, 'UTF8'
                  )), 'hex'
                )
              )
            )
            || case jsonb_typeof(o.observation -> 'metadata')
              when 'object' then jsonb_build_object('metadata', o.observation -> 'metadata')
              else '{}'
            end
            order by o.ordinal
          ),
          '[]'
        )
      from jsonb_array_elements(observations) with ordinality as o (observation, ordinal)
      cross join lateral (
        select
          (array_agg(
            v.source_class order by memory.trust_rank(v.source_class)
          ))[1] as source_class,
          max(v.created_at) as created_at,
          array_agg(v.id order by v.id) as ids
        from unnest(v_open) as v
        where o.observation -> 'evidence' @> to_jsonb(v.id::text)
          or v.id::text in (
            select lower(i.id) from jsonb_array_elements_text(o.observation -> 'evidence') as i (id)
          )
      ) as e
    ),
    as_of
  ) as s;

  insert into memory.memory_links
    (tenant_id, source_type, source_id, target_type, target_id, relation, created_at)
  select distinct
    v_tenant_id, 'episode', v_ids[o.ordinal], 'episode', i.id::uuid, 'derived_from', as_of
  from jsonb_array_elements(observations) with ordinality as o (observation, ordinal)
  cross join lateral jsonb_array_elements_text(o.observation -> 'evidence') as i (id)
  order by 3, 5
  on conflict (tenant_id, source_type, source_id, target_type, target_id) do nothing;

  -- What the user said and no observation holds waits for consolidation still.
  perform memory.close_episodes(
    v_tenant_id,
    array(
      select v.id
      from unnest(v_open) as v
      where v.source_class <> 'user'
        or v.id in (
          select i.id::uuid
          from jsonb_array_elements(observations) as o (observation)
          cross join lateral jsonb_array_elements_text(o.observation -> 'evidence') as i (id)
        )
      order by v.id
    ),
    as_of
  );

  return query
  select n.ordinal, n.id
  from unnest(v_ids) with ordinality as n (id, ordinal)
  order by n.ordinal;
end;
$$;

comment on function memory.store_observations(uuid[], jsonb, timestamptz) is
'Stores what was extracted from turns of one session as episodes that wait for consolidation in '
'their place: an array of objects with content, evidence (ids of those episodes) and, optionally, '
'importance and metadata. An observation is derived_from its evidence, happened when the last of '
'it did, and is trusted as the least of it. The episodes are done, except what the user said and '
'no observation names. Returns the ids; no rows if one of the episodes waits no longer: then '
'nothing changes. Errors: PM002 invalid argument (the message says which observation).';
grant execute on function memory.store_observations to memory_writer;

commit;
