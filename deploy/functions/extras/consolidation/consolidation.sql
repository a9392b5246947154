-- Deploy pymem:functions/extras/consolidation/consolidation to pg

begin;

set local role memory_owner;

-- begin atomic instead of SET search_path, so that the planner inlines the function.
-- noqa: disable=AM04,RF01,RF03
create or replace function memory.due_episodes(
  tenant_id text,
  butler text,
  as_of timestamptz
)
  returns setof memory.episodes
  language sql
  stable
begin atomic
  select e.*
  from memory.episodes as e
  where e.tenant_id = due_episodes.tenant_id
    and (due_episodes.butler is null or e.butler = due_episodes.butler)
    and (e.consolidation_status = 'pending' or e.consolidation_status = 'failed')
    and (
      e.consolidation_status = 'pending'
      or e.next_consolidation_retry_at is null or e.next_consolidation_retry_at <= as_of
    )
    and (e.expires_at is null or e.expires_at > as_of);
end;

-- noqa: enable=AM04,RF01,RF03

comment on function memory.due_episodes(text, text, timestamptz) is
'The episodes of a butler (NULL: of all) that are due for consolidation: pending ones, and failed '
'ones whose retry time has passed. Expired ones are left to the cleanup.';

create or replace function memory.list_due_consolidations(as_of timestamptz default now())
  returns table (
    butler text,
    waiting bigint,
    oldest_at timestamptz,
    is_running boolean,
    is_due boolean
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    w.butler, w.waiting, w.oldest_at, r.is_running,
    not r.is_running and (
      w.waiting >= v_settings.consolidation_episode_threshold
      or r.last_at is null
      or r.last_at
        <= as_of - make_interval(secs => v_settings.consolidation_interval_hours * 3600)
    )
  from (
    select e.butler, count(*) as waiting, min(e.created_at) as oldest_at
    from memory.due_episodes(v_tenant_id, null, as_of) as e
    group by e.butler
  ) as w
  cross join lateral (
    select
      coalesce(bool_or(c.status = 'running' and c.leased_until > as_of), false) as is_running,
      max(c.started_at) filter (where c.status in ('done', 'failed')) as last_at
    from memory.consolidation_runs as c
    where c.tenant_id = v_tenant_id and c.butler = w.butler
  ) as r
  order by w.oldest_at, w.butler;
end;
$$;

comment on function memory.list_due_consolidations(timestamptz) is
'The butlers with episodes waiting for consolidation, and whether it is due: '
'consolidation_episode_threshold of them wait, or consolidation_interval_hours have passed since '
'the last run began (or there was none), and no run is in progress. Errors: PM002.';
grant execute on function memory.list_due_consolidations to memory_worker;

create or replace function memory.claim_episodes(
  butler text default null,
  batch_size integer default null,
  lease interval default null,
  as_of timestamptz default now()
)
  returns table (
    run_id uuid,
    episode_butler text,
    episode_id uuid,
    content text,
    created_at timestamptz,
    importance float8,
    session_id uuid
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_tenant_id text := v_settings.tenant_id;
  v_batch_size integer := coalesce(batch_size, v_settings.consolidation_batch_size);
  v_lease interval := coalesce(
    lease, make_interval(secs => v_settings.consolidation_lease_minutes * 60)
  );
  v_butler text;
  v_run_id uuid;
  v_ids uuid[];
begin
  perform
    memory.check_number('batch_size', v_batch_size, 1, 10000),
    memory.check_number('lease', extract(epoch from v_lease)::float8, 1, 604800),
    memory.check_write_time('as_of', as_of);

  update memory.consolidation_runs as r
  set status = 'abandoned', finished_at = as_of
  where r.tenant_id = v_tenant_id
    and r.id in (
      select a.id
      from memory.consolidation_runs as a
      where a.tenant_id = v_tenant_id and a.status = 'running' and a.leased_until <= as_of
      order by a.id
      for update skip locked
    );

  for v_butler in
    select e.butler
    from memory.due_episodes(v_tenant_id, claim_episodes.butler, as_of) as e
    group by e.butler
    order by min(e.created_at), e.butler
  loop
    insert into memory.consolidation_runs as r (tenant_id, butler, started_at, leased_until)
    values (v_tenant_id, v_butler, as_of, as_of + v_lease)
    on conflict (tenant_id, butler) where status = 'running' do nothing
    returning r.id into v_run_id;
    continue when v_run_id is null;

    -- Selected after taking the lease, because its previous holder may just have finished.
    v_ids := array(
      select e.id
      from memory.due_episodes(v_tenant_id, v_butler, as_of) as e
      order by e.created_at, e.id
      limit v_batch_size
    );
    if v_ids = '{}' then
      delete from memory.consolidation_runs as r
      where r.tenant_id = v_tenant_id and r.id = v_run_id;
      v_run_id := null;
      continue;
    end if;
    update memory.consolidation_runs as r
    set episode_ids = v_ids
    where r.tenant_id = v_tenant_id and r.id = v_run_id;

    return query
    select v_run_id, v_butler, e.id, e.content, e.created_at, e.importance, e.session_id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (v_ids)
    order by e.created_at, e.id;
    return;
  end loop;
end;
$$;

comment on function memory.claim_episodes(text, integer, interval, timestamptz) is
'Claims for one worker the oldest episodes of one butler that wait for consolidation, ordered by '
'created_at and id, with the run that holds the lease: until the worker ends the run '
'(apply_consolidation, fail_consolidation) or the lease expires, no other worker gets episodes of '
'this butler. butler NULL: the one whose oldest episode has waited longest. No rows: nothing '
'waits, or other workers hold the leases. Errors: PM002.';
grant execute on function memory.claim_episodes to memory_worker;

create or replace function memory.lock_run(
  tenant_id text,
  run_id uuid
)
  returns memory.consolidation_runs
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_run memory.consolidation_runs;
begin
  select r.* into v_run
  from memory.consolidation_runs as r
  where r.tenant_id = lock_run.tenant_id and r.id = lock_run.run_id
  for update;
  if not found then
    raise exception 'no consolidation run has id %', run_id
      using errcode = 'PM001', hint = 'Pass the run_id that memory.claim_episodes returned.';
  end if;
  return v_run;
end;
$$;

comment on function memory.lock_run(text, uuid) is
'Locks a run and returns it. Errors: PM001.';

create or replace function memory.refuse_lost_lease(run memory.consolidation_runs)
  returns void
  language plpgsql
  immutable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  raise exception 'consolidation run % is % and no longer yours', run.id, run.status
    using errcode = 'PM003', hint = 'Discard this result and claim episodes again.';
end;
$$;

comment on function memory.refuse_lost_lease(memory.consolidation_runs) is
'Raises PM003: the run has ended, or its lease expired and was taken over.';

create or replace function memory.extend_lease(
  run_id uuid,
  lease interval default null,
  as_of timestamptz default now()
)
  returns timestamptz
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_lease interval := coalesce(
    lease, make_interval(secs => v_settings.consolidation_lease_minutes * 60)
  );
  v_run memory.consolidation_runs := memory.lock_run(v_settings.tenant_id, extend_lease.run_id);
begin
  perform
    memory.check_number('lease', extract(epoch from v_lease)::float8, 1, 604800),
    memory.check_write_time('as_of', as_of);
  if v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;
  update memory.consolidation_runs as r
  set leased_until = greatest(r.leased_until, as_of + v_lease)
  where r.tenant_id = v_run.tenant_id and r.id = v_run.id;
  return greatest(v_run.leased_until, as_of + v_lease);
end;
$$;

comment on function memory.extend_lease(uuid, interval, timestamptz) is
'Extends the lease of a run; returns when it ends. Errors: PM001 unknown run, PM002, PM003 the '
'lease was lost.';
grant execute on function memory.extend_lease to memory_worker;

create or replace function memory.release_run(
  run_id uuid,
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
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, release_run.run_id);
begin
  perform memory.check_write_time('as_of', as_of);
  update memory.consolidation_runs as r
  set status = 'abandoned', finished_at = as_of
  where r.tenant_id = v_tenant_id and r.id = v_run.id and r.status = 'running';
  return found;
end;
$$;

comment on function memory.release_run(uuid, timestamptz) is
'Releases the episodes of a run at once, as if never claimed: for a worker that is being stopped. '
'False: the run has already ended. Errors: PM001, PM002.';
grant execute on function memory.release_run to memory_worker;

create or replace function memory.fail_consolidation(
  run_id uuid,
  error text,
  prompt_version text default null,
  model text default null,
  as_of timestamptz default now()
)
  returns table (
    failed bigint,
    dead_lettered bigint
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
  v_run memory.consolidation_runs := memory.lock_run(v_tenant_id, fail_consolidation.run_id);
  v_error text := memory.truncate_utf8(memory.collapse_whitespace(error), 4096);
begin
  perform
    memory.check_text('error', v_error, 4096),
    memory.check_write_time('as_of', as_of);
  if v_run.status <> 'running' then
    perform memory.refuse_lost_lease(v_run);
  end if;

  with batch as (
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id and e.id = any (v_run.episode_ids)
      and e.consolidation_status in ('pending', 'failed')
    order by e.id
    for no key update
  ),
  changed as (
    update memory.episodes as e
    set
      consolidation_attempts = e.consolidation_attempts + 1,
      consolidation_status = case
        when e.consolidation_attempts + 1 >= v_settings.consolidation_max_attempts
        then 'dead_letter'
        else 'failed'
      end,
      last_consolidation_error = v_error,
      next_consolidation_retry_at = case
        when e.consolidation_attempts + 1 < v_settings.consolidation_max_attempts
        then as_of + interval '1 minute' * 2 ^ least(e.consolidation_attempts + 1, 20)
      end,
      updated_at = memory.next_state_at(e.updated_at, as_of)
    from batch as b
    where e.tenant_id = v_tenant_id and e.id = b.id
    returning e.consolidation_status
  )
  select
    count(*) filter (where c.consolidation_status = 'failed'),
    count(*) filter (where c.consolidation_status = 'dead_letter')
  into failed, dead_lettered
  from changed as c;

  update memory.consolidation_runs as r
  set
    status = 'failed',
    finished_at = as_of,
    prompt_version = coalesce(fail_consolidation.prompt_version, r.prompt_version),
    model = coalesce(fail_consolidation.model, r.model),
    errors = r.errors || jsonb_build_object('message', v_error)
  where r.tenant_id = v_tenant_id and r.id = v_run.id;
  return next;
end;
$$;

comment on function memory.fail_consolidation(uuid, text, text, text, timestamptz) is
'Ends a run without applying anything: its episodes are retried after 2^attempts minutes, and '
'become dead letters after consolidation_max_attempts. Returns how many of each. Errors: PM001 '
'unknown run, PM002, PM003 the lease was lost.';
grant execute on function memory.fail_consolidation to memory_worker;

create or replace function memory.requeue_episodes(
  episode_ids uuid[] default null,
  as_of timestamptz default now()
)
  returns bigint
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id text := memory.current_tenant();
  v_requeued bigint;
begin
  perform memory.check_write_time('as_of', as_of);
  with dead as (
    select e.id
    from memory.episodes as e
    where e.tenant_id = v_tenant_id
      and e.consolidation_status in ('failed', 'dead_letter')
      and case
        when requeue_episodes.episode_ids is null then e.consolidation_status = 'dead_letter'
        else e.id = any (requeue_episodes.episode_ids)
      end
    order by e.id
    for no key update
  )
  update memory.episodes as e
  set
    consolidation_status = 'pending',
    consolidation_attempts = 0,
    last_consolidation_error = null,
    next_consolidation_retry_at = null,
    updated_at = memory.next_state_at(e.updated_at, as_of)
  from dead as d
  where e.tenant_id = v_tenant_id and e.id = d.id;
  get diagnostics v_requeued = row_count;
  return v_requeued;
end;
$$;

comment on function memory.requeue_episodes(uuid[], timestamptz) is
'Makes failed episodes and dead letters pending again, as if never tried: the given ones, or all '
'dead letters. Returns how many. Errors: PM002.';
grant execute on function memory.requeue_episodes to memory_worker, memory_admin;

create or replace function memory.get_consolidation_context(
  butler text,
  max_facts integer default 100,
  max_rules integer default 50
)
  returns jsonb
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_tenant_id text := memory.current_tenant();
begin
  perform
    memory.check_text('butler', butler, 128),
    memory.check_number('max_facts', max_facts, 0, 1000),
    memory.check_number('max_rules', max_rules, 0, 1000);
  return jsonb_build_object(
    'facts',
    (
      select coalesce(jsonb_agg(to_jsonb(x) order by x.created_at desc, x.id), '[]')
      from (
        select
          f.id, f.subject, f.predicate, f.content, f.permanence, f.scope, f.created_at
        from memory.facts as f
        where f.tenant_id = v_tenant_id and f.validity = 'active'
          and (
            f.source_butler = get_consolidation_context.butler
            or f.scope in ('global', get_consolidation_context.butler)
          )
        order by f.created_at desc, f.id
        limit max_facts
      ) as x
    ),
    'rules',
    (
      select coalesce(jsonb_agg(to_jsonb(x) order by x.created_at desc, x.id), '[]')
      from (
        select r.id, r.content, r.maturity, r.scope, r.created_at
        from memory.rules as r
        where r.tenant_id = v_tenant_id and r.lifecycle_state <> 'retracted'
          and (
            r.source_butler = get_consolidation_context.butler
            or r.scope in ('global', get_consolidation_context.butler)
          )
        order by r.created_at desc, r.id
        limit max_rules
      ) as x
    )
  );
end;
$$;

comment on function memory.get_consolidation_context(text, integer, integer) is
'What a butler already knows, newest first, for the prompt: {"facts": […], "rules": […]} that it '
'stored, or of its scope or global. Errors: PM002.';
grant execute on function memory.get_consolidation_context to memory_worker;

commit;
