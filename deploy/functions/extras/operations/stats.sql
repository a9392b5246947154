-- Deploy pymem:functions/extras/operations/stats to pg

begin;

set local role memory_owner;

create or replace function memory.memory_stats(
  scope text default null,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
  v_scope text := memory.visible_scope(scope);
begin
  if v_scope is not null then
    perform memory.check_text('scope', v_scope, 128);
  end if;
  perform memory.check_time('as_of', as_of);

  return jsonb_build_object(
    'episodes',
    (
      select jsonb_build_object(
        'total', count(*),
        'unconsolidated', count(*) filter (where e.consolidation_status = 'pending'),
        'backlog_age_hours', round(
          extract(
            epoch from as_of - min(e.created_at) filter (where e.consolidation_status = 'pending')
          ) / 3600,
          2
        ),
        'consolidated', count(*) filter (where e.consolidation_status = 'consolidated'),
        'failed', count(*) filter (where e.consolidation_status = 'failed'),
        'dead_letter', count(*) filter (where e.consolidation_status = 'dead_letter'),
        'expired', count(*) filter (where e.expires_at <= as_of)
      )
      from memory.episodes as e
      where e.tenant_id = v_tenant_id
    ),
    'facts',
    (
      select jsonb_build_object(
        'active', count(*) filter (where f.lifecycle_state = 'active'),
        'fading', count(*) filter (where f.lifecycle_state = 'fading'),
        'superseded', count(*) filter (where f.lifecycle_state = 'superseded'),
        'expired', count(*) filter (where f.lifecycle_state = 'expired'),
        'retracted', count(*) filter (where f.lifecycle_state = 'retracted')
      )
      from memory.facts as f
      where f.tenant_id = v_tenant_id
        and (v_scope is null or f.scope in ('global', v_scope))
    ),
    'rules',
    (
      select jsonb_build_object(
        'candidate', count(*) filter (where s.state = 'candidate'),
        'established', count(*) filter (where s.state = 'established'),
        'proven', count(*) filter (where s.state = 'proven'),
        'anti_pattern', count(*) filter (where s.state = 'anti_pattern'),
        'forgotten', count(*) filter (where s.state = 'forgotten')
      )
      from (
        select case r.lifecycle_state when 'retracted' then 'forgotten' else r.maturity end as state
        from memory.rules as r
        where r.tenant_id = v_tenant_id
          and (v_scope is null or r.scope in ('global', v_scope))
      ) as s
    ),
    'entries',
    (
      select jsonb_build_object(
        'active', count(*) filter (where e.lifecycle_state = 'active' and e.retention = 'active'),
        'aging', count(*) filter (where e.lifecycle_state = 'active' and e.retention = 'aging'),
        'aged', count(*) filter (where e.lifecycle_state = 'aged'),
        'archived', count(*) filter (where e.lifecycle_state = 'archived'),
        'guarded', count(*) filter (where e.lifecycle_state = 'guarded'),
        'expired', count(*) filter (where e.lifecycle_state = 'expired'),
        'deleted', count(*) filter (where e.lifecycle_state = 'retracted'),
        'flagged', count(*) filter (
          where e.flagged_at is not null and e.lifecycle_state in ('active', 'aged', 'archived')
        )
      )
      from memory.entries as e
      where e.tenant_id = v_tenant_id
        and (v_scope is null or e.scope in ('global', v_scope))
    ),
    'embeddings',
    (
      select jsonb_build_object('pending', count(*))
      from memory.embedding_queue as q
      where q.tenant_id = v_tenant_id and q.target = 'active'
    )
  );
end;
$$;

comment on function memory.memory_stats(text, timestamptz) is
'How much the tenant stores, as a JSON object: episodes (total, unconsolidated, backlog_age_hours: '
'the age of the oldest unconsolidated one or null, consolidated, failed, dead_letter; these '
'include expired ones), facts by state (active excludes fading), rules by maturity (forgotten ones '
'separately), entries by state (active without aging; flagged: waiting for review), embeddings '
'pending. scope: only facts, rules and entries of this scope and of global, "*": all, NULL: as in '
'memory.visible_scope; episodes are counted in every scope. Errors: PM002.';
grant execute on function memory.memory_stats to memory_writer, memory_reader, memory_admin;

create or replace function memory.memory_timeseries(
  bucket text default 'day',
  from_at timestamptz default null,
  to_at timestamptz default null,
  types text[] default null,
  as_of timestamptz default now()
)
  returns table (
    starts_at timestamptz,
    stored bigint,
    superseded bigint,
    forgotten bigint,
    expired bigint,
    consolidated bigint,
    confirmed bigint
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_zone text := v_settings.time_zone;
  v_types text[] := case
    when memory_timeseries.types is null then memory.memory_type_names()
    else memory.read_types(memory_timeseries.types)
  end;
  v_step interval;
  v_first timestamp; -- beginning of the first bucket, by the clocks of the tenant
  v_last timestamp;
begin
  perform
    memory.check_word('bucket', memory_timeseries.bucket, '{hour,day,week,month}'),
    memory.check_time('as_of', as_of);
  v_step := ('1 ' || memory_timeseries.bucket)::interval;
  v_last := date_trunc(memory_timeseries.bucket, coalesce(to_at, as_of) at time zone v_zone);
  v_first := coalesce(
    date_trunc(memory_timeseries.bucket, from_at at time zone v_zone), v_last - 29 * v_step
  );
  perform
    memory.check_time('from_at', v_first at time zone 'UTC'),
    memory.check_time('to_at', v_last at time zone 'UTC');
  if v_last < v_first or v_first + 1000 * v_step <= v_last then
    raise exception 'from_at is %, and to_at is %', from_at, coalesce(to_at, as_of)
      using errcode = 'PM002',
        hint = 'Pass the earlier time first, and at most 1000 buckets, or longer ones.';
  end if;

  return query
  with kinds as (
    select distinct
      t.event_type,
      case
        when t.from_state = '[*]' then 'stored'
        when t.to_state = 'retracted' then 'forgotten'
        else t.to_state
      end as kind
    from memory.transitions as t
    where t.memory_type = any (v_types) and t.aspect = 'lifecycle_state'
      and (
        t.from_state = '[*]' and t.to_state <> '[*]'
        or t.from_state <> '[*]'
          and t.to_state in ('superseded', 'retracted', 'expired', 'consolidated')
      )
    union all
    select t.memory_type || '_confirmed', 'confirmed'
    from unnest(v_types) as t (memory_type)
    union all
    -- An episode that is forgotten expires at once; one whose time is over leaves no event.
    select 'episode_expired', 'forgotten'
    where 'episode' = any (v_types)
  ),
  counted as (
    select
      date_trunc(memory_timeseries.bucket, e.created_at at time zone v_zone) as starts_at, k.kind,
      count(*) as events
    from kinds as k
    join memory.memory_events as e
      on e.tenant_id = v_settings.tenant_id and e.event_type = k.event_type
        and e.created_at >= v_first at time zone v_zone
        and e.created_at < (v_last + v_step) at time zone v_zone
    group by 1, 2
  )
  select
    b.starts_at at time zone v_zone,
    coalesce(sum(c.events) filter (where c.kind = 'stored'), 0)::bigint,
    coalesce(sum(c.events) filter (where c.kind = 'superseded'), 0)::bigint,
    coalesce(sum(c.events) filter (where c.kind = 'forgotten'), 0)::bigint,
    coalesce(sum(c.events) filter (where c.kind = 'expired'), 0)::bigint,
    coalesce(sum(c.events) filter (where c.kind = 'consolidated'), 0)::bigint,
    coalesce(sum(c.events) filter (where c.kind = 'confirmed'), 0)::bigint
  from generate_series(v_first, v_last, v_step) as b (starts_at)
  left join counted as c on c.starts_at = b.starts_at
  group by b.starts_at
  order by b.starts_at;
end;
$$;

comment on function memory.memory_timeseries(
  text, timestamptz, timestamptz, text[], timestamptz
) is
'How many memories were stored, superseded, forgotten, expired, consolidated and confirmed in each '
'hour, day, week or month (bucket), by the events: from the one of from_at (NULL: 30 in all) to '
'the one of to_at (NULL: as_of), oldest first, at most 1000, those without events included. They '
'begin by the clocks of the time zone in the settings. Errors: PM002.';
grant execute on function memory.memory_timeseries to memory_writer, memory_reader, memory_admin;

commit;
