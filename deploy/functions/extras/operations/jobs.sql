-- Deploy pymem:functions/extras/operations/jobs to pg

begin;

set local role memory_owner;

-- A new job needs a row here and a column of memory.settings for its schedule.
create or replace function memory.all_jobs(settings memory.settings)
  returns table (
    job text,
    schedule text,
    role name,
    call text
  )
  language sql
  immutable
  parallel safe
  begin atomic
    select j.job, j.schedule, j.role, j.call
    from (
      values
        (
          'run_decay_sweep',
          settings.decay_sweep_schedule, -- noqa: RF01
          'memory_worker'::name,
          'memory.run_decay_sweep()'
        ),
        (
          'run_episode_cleanup',
          settings.episode_cleanup_schedule, -- noqa: RF01
          'memory_worker',
          'memory.run_episode_cleanup()'
        ),
        (
          'run_rule_hygiene',
          settings.rule_hygiene_schedule, -- noqa: RF01
          'memory_worker',
          'memory.run_rule_hygiene()'
        ),
        (
          'maybe_consolidate_entries',
          settings.entry_consolidation_schedule, -- noqa: RF01
          'memory_worker',
          'memory.maybe_consolidate_entries()'
        ),
        (
          'run_daily_entry_upkeep',
          settings.entry_daily_schedule, -- noqa: RF01
          'memory_worker',
          'memory.run_entry_upkeep(''daily'')'
        ),
        (
          'expire_memory',
          settings.entry_expiry_schedule, -- noqa: RF01
          'memory_worker',
          'memory.expire_memory()'
        ),
        (
          'run_weekly_entry_upkeep',
          settings.entry_weekly_schedule, -- noqa: RF01
          'memory_worker',
          'memory.run_entry_upkeep(''weekly'')'
        ),
        (
          'run_monthly_entry_upkeep',
          settings.entry_monthly_schedule, -- noqa: RF01
          'memory_worker',
          'memory.run_entry_upkeep(''monthly'')'
        ),
        (
          'delete_expired_items',
          settings.item_expiry_schedule, -- noqa: RF01
          'memory_worker',
          'memory.delete_expired_items()'
        ),
        (
          'delete_expired_sessions',
          settings.session_expiry_schedule, -- noqa: RF01
          'memory_worker',
          'memory.delete_expired_sessions()'
        ),
        (
          'seal_events',
          settings.event_seal_schedule, -- noqa: RF01
          'memory_worker',
          'memory.seal_events()'
        ),
        (
          'fold_corpus_statistics',
          settings.corpus_statistics_schedule, -- noqa: RF01
          'memory_worker',
          'memory.fold_corpus_statistics()'
        ),
        (
          'rebuild_vector_indexes',
          settings.vector_index_schedule, -- noqa: RF01
          'memory_admin',
          'memory.rebuild_vector_indexes()'
        )
    ) as j (job, schedule, role, call);
  end;

comment on function memory.all_jobs(memory.settings) is
'All periodic jobs: the schedule in these settings, "off" included, the role that may run it, and '
'the function call.';

-- Not granted to any role, like bind_login: setting up jobs decides what other logins do.
create or replace function memory.list_jobs(login name)
  returns table (
    job text,
    schedule text,
    command text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_lacking text;
begin
  if not exists (
    select from pg_roles as r where r.rolname = list_jobs.login and r.rolcanlogin
  ) then
    raise exception 'no login role is named %', quote_nullable(list_jobs.login)
      using errcode = 'PM001', hint = 'Create it first: create role ... login;';
  end if;
  if v_settings.tenant_id is distinct from coalesce(
    (select l.tenant_id from memory.tenant_logins as l where l.login = list_jobs.login),
    case
      when pg_has_role(list_jobs.login, 'memory_gateway', 'member') then v_settings.tenant_id
    end
  ) then
    raise exception 'login % does not act for tenant %',
      quote_literal(list_jobs.login), quote_literal(v_settings.tenant_id)
      using errcode = 'PM005',
        hint = 'Bind it to the tenant, or make it a gateway, with sql/grant_login.sql.';
  end if;

  select string_agg(distinct j.role::text, ', ') into v_lacking
  from memory.all_jobs(v_settings) as j
  where j.schedule <> 'off' and not pg_has_role(list_jobs.login, j.role, 'usage');
  if v_lacking is not null then
    raise exception 'login % lacks a role for its jobs: %', quote_literal(list_jobs.login), v_lacking
      using errcode = 'PM002', hint = 'Grant it with sql/grant_login.sql, or turn the jobs off.';
  end if;

  return query
  select
    j.job, j.schedule,
    format(
      'select memory.set_request(tenant_id => %L, actor => %L); select memory.run_job(%L);',
      v_settings.tenant_id, 'schedule:' || j.job, j.job
    )
  from memory.all_jobs(v_settings) as j
  where j.schedule <> 'off'
  order by j.job;
end;
$$;

comment on function memory.list_jobs(name) is
'The jobs of the current tenant that are not off, by name: the schedule (is_schedule) and the SQL '
'for this login to run, in one transaction. For the deployer; sql/schedule.sql passes them to '
'pg_cron. Errors: PM001 no such login, PM002 the login lacks a role, PM005 it does not act for '
'this tenant, 28000 no tenant.';

create or replace function memory.due_from(
  schedule text,
  last_run timestamptz
)
  returns timestamptz
  language sql
  immutable
  parallel safe
  -- Schedulers that count seconds are not exact to the millisecond.
  return
    memory.next_run(schedule, last_run)
    - case when schedule like '% seconds' then interval '1 second' else interval '0' end;

comment on function memory.due_from(text, timestamptz) is
'From when on a job is due with this schedule, which began its last run or became known at a time: '
'its next time (memory.next_run), or a second before if the schedule counts seconds.';

create or replace function memory.is_job_due(
  schedule text,
  last_run timestamptz,
  as_of timestamptz
)
  returns boolean
  language sql
  immutable
  parallel safe
  return coalesce(memory.due_from(schedule, last_run) <= as_of, false);

comment on function memory.is_job_due(text, timestamptz, timestamptz) is
'Whether a job with this schedule, which began its last run or became known at a time, is due.';

create or replace function memory.runner_seen_at(tenant_id text)
  returns timestamptz
  language sql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select greatest(
    (select r.seen_at from memory.job_runners as r where r.tenant_id = runner_seen_at.tenant_id),
    (select c.seen_at from memory.common_runner as c)
  );
$$;

comment on function memory.runner_seen_at(text) is
'When a process of `pymem run` has last looked for jobs of a tenant, or of all; NULL: none has, or '
'all have signed off.';

create or replace function memory.job_status(as_of timestamptz default now())
  returns table (
    job text,
    schedule text,
    role text,
    last_ran_at timestamptz,
    due_at timestamptz,
    is_off boolean,
    is_due boolean,
    is_overdue boolean,
    runner_seen_at timestamptz
  )
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_seen_at timestamptz := memory.runner_seen_at(v_settings.tenant_id);
begin
  perform memory.check_time('as_of', as_of);
  return query
  select
    j.job, j.schedule, j.role::text, r.ran_at, d.due_at, j.schedule = 'off',
    memory.is_job_due(j.schedule, coalesce(r.ran_at, r.known_since), as_of),
    coalesce(memory.next_run(j.schedule, d.due_at) <= as_of, false),
    v_seen_at
  from memory.all_jobs(v_settings) as j
  left join memory.job_runs as r on r.tenant_id = v_settings.tenant_id and r.job = j.job
  cross join lateral (
    select memory.next_run(j.schedule, coalesce(r.ran_at, r.known_since, as_of)) as due_at
  ) as d
  order by j.job;
end;
$$;

comment on function memory.job_status(timestamptz) is
'The periodic jobs of the tenant, those that are off included, by name: the role that may run '
'each, when the run began that was the last to succeed (NULL: none that memory.run_job knows of), '
'when it is due next, whether it is due at as_of, and overdue: the time after that has come as '
'well. runner_seen_at: when a process of pymem run has last looked for jobs. A job that nobody has '
'looked for yet is due at its next time. Errors: PM002.';
grant execute on function memory.job_status to memory_worker, memory_reader, memory_admin;

create or replace function memory.note_jobs(
  settings memory.settings,
  as_of timestamptz
)
  returns boolean
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  insert into memory.job_runs (tenant_id, job, known_since)
  select settings.tenant_id, j.job, as_of
  from memory.all_jobs(settings) as j
  where j.schedule <> 'off'
    and not exists (
      select from memory.job_runs as r
      where r.tenant_id = settings.tenant_id and r.job = j.job
    )
  on conflict do nothing;

  with unknown as (
    select r.job, memory.due_from(j.schedule, coalesce(r.ran_at, r.known_since)) as due_at
    from memory.job_runs as r
    left join memory.all_jobs(settings) as j on j.job = r.job
    where r.tenant_id = settings.tenant_id and r.due_at is null
    -- Who runs a job writes when it is due again.
    for update of r skip locked
  )
  update memory.job_runs as r set due_at = coalesce(u.due_at, 'infinity')
  from unknown as u
  where r.tenant_id = settings.tenant_id and r.job = u.job;
  return found;
end;
$$;

comment on function memory.note_jobs(memory.settings, timestamptz) is
'Notes the jobs of a tenant that nobody has looked for before, and computes when each one is due '
'where that is not known. Returns whether there was any.';

create or replace function memory.forget_due_times()
  returns trigger
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  with changed as (
    select r.job
    from memory.job_runs as r
    where r.tenant_id = coalesce(new.tenant_id, old.tenant_id) and r.due_at is not null
    -- A job that runs keeps its schedule until it runs again, rather than keep anybody waiting.
    for update of r skip locked
  )
  update memory.job_runs as r set due_at = null
  from changed as c
  where r.tenant_id = coalesce(new.tenant_id, old.tenant_id) and r.job = c.job;
  return null;
end;
$$;

comment on function memory.forget_due_times() is
'Trigger: whoever looks next computes from when on the jobs of the tenant are due, because their '
'schedules may have changed.';

create or replace function memory.find_due_jobs(as_of timestamptz default now())
  returns table (
    job text,
    due_at timestamptz
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
begin
  perform memory.check_time('as_of', as_of);
  insert into memory.job_runners as r (tenant_id, seen_at)
  values (v_settings.tenant_id, as_of)
  on conflict (tenant_id) do update set seen_at = greatest(r.seen_at, excluded.seen_at);
  perform memory.note_jobs(v_settings, as_of);

  return query
  select j.job, memory.next_run(j.schedule, coalesce(r.ran_at, r.known_since)) as due_at
  from memory.all_jobs(v_settings) as j
  join memory.job_runs as r on r.tenant_id = v_settings.tenant_id and r.job = j.job
  where r.due_at <= as_of
  order by 2, 1;
end;
$$;

comment on function memory.find_due_jobs(timestamptz) is
'The jobs of the tenant that are due, oldest first, and since when: what memory.run_job would '
'run. Notes that somebody looks, which the doctor tells (`pymem run` looks every ten seconds). A '
'job that nobody has looked for before is due at its next time. Errors: PM002 invalid time, 28000 '
'no tenant.';
grant execute on function memory.find_due_jobs to memory_worker;

-- memory_search reads every tenant's rows: see functions/core/base/tenants.
grant create on schema memory to memory_search;
set local role memory_search;

create or replace function memory.due_jobs(as_of timestamptz)
  returns table (
    tenant_id text,
    job text,
    due_at timestamptz
  )
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select r.tenant_id, r.job, r.due_at from memory.job_runs as r where r.due_at <= as_of;
$$;

comment on function memory.due_jobs(timestamptz) is
'The jobs of all tenants that are due, as far as that is known (memory.job_runs.due_at).';
grant execute on function memory.due_jobs to memory_owner;

create or replace function memory.tenants_without_due_times(include_new boolean)
  returns setof text
  language sql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
  select r.tenant_id from memory.job_runs as r where r.due_at is null
  union
  (
    -- Whatever a tenant does leaves an event; but memories may outlive theirs.
    select t.tenant_id
    from (
      select e.tenant_id from memory.tenants_in('memory_events', 'true', null) as e (tenant_id)
      union
      select m.tenant_id from memory.tenants_with_memories() as m (tenant_id)
    ) as t
    where include_new
    except
    select j.tenant_id from memory.tenants_in('job_runs', 'true', null) as j (tenant_id)
  );
$$;

comment on function memory.tenants_without_due_times(boolean) is
'The tenants whose settings have changed since somebody last looked for their jobs, and those with '
'memories or events whose jobs nobody has looked for (include_new).';
grant execute on function memory.tenants_without_due_times to memory_owner;

set local role memory_owner;
revoke create on schema memory from memory_search;

create or replace function memory.find_due_jobs_all_tenants(as_of timestamptz default now())
  returns table (
    tenant_id text,
    job text,
    due_at timestamptz
  )
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_before text := current_setting('memory.tenant_id', true);
  v_tenant_id text;
  v_searches boolean;
  v_noted integer := 0;
begin
  perform memory.check_time('as_of', as_of), memory.check_acts_for_all();
  insert into memory.common_runner as c (seen_at) values (as_of)
  on conflict (is_common) do update set seen_at = greatest(c.seen_at, excluded.seen_at)
  returning (searched_at > as_of - interval '1 minute') is not true into v_searches;

  for v_tenant_id in
    select t.tenant_id
    from memory.tenants_without_due_times(v_searches) as t (tenant_id)
    where not memory.is_elsewhere(t.tenant_id)
    order by t.tenant_id
  loop
    perform set_config('memory.tenant_id', v_tenant_id, true);
    if memory.note_jobs(memory.current_settings(), as_of) then
      v_noted := v_noted + 1;
    end if;
    exit when v_noted = 500; -- The others next time, so that no transaction takes long.
  end loop;
  perform set_config('memory.tenant_id', coalesce(v_before, ''), true);
  if v_searches and v_noted < 500 then
    update memory.common_runner as c set searched_at = as_of;
  end if;

  return query
  select d.tenant_id, d.job, d.due_at
  from memory.due_jobs(as_of) as d
  where not memory.is_elsewhere(d.tenant_id)
  order by d.due_at, d.tenant_id, d.job;
end;
$$;

comment on function memory.find_due_jobs_all_tenants(timestamptz) is
'The jobs of all tenants that are due, as memory.find_due_jobs for each would find them, those '
'that are due longest first. It reads only these, and the jobs of tenants whose settings have '
'changed or, once a minute, that are new: at most 500 of them at a time. due_at is a second early '
'where a schedule counts seconds. Notes that somebody looks after every tenant. Errors: PM002 '
'invalid time, PM005 the login may not act for all tenants.';
grant execute on function memory.find_due_jobs_all_tenants to memory_worker;

create or replace function memory.sign_off_runner()
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  delete from memory.job_runners as r where r.tenant_id = memory.current_tenant();
  return found;
end;
$$;

comment on function memory.sign_off_runner() is
'Says that the caller of memory.find_due_jobs stops looking, so that the doctor does not miss it. '
'Returns whether anybody had looked. Errors: 28000 no tenant.';
grant execute on function memory.sign_off_runner to memory_worker;

create or replace function memory.sign_off_runner_all_tenants()
  returns boolean
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  perform memory.check_acts_for_all();
  delete from memory.common_runner;
  return found;
end;
$$;

comment on function memory.sign_off_runner_all_tenants() is
'As memory.sign_off_runner, for whoever called memory.find_due_jobs_all_tenants. Errors: PM005 the '
'login may not act for all tenants.';
grant execute on function memory.sign_off_runner_all_tenants to memory_worker;

create or replace function memory.claim_job(
  job text,
  as_of timestamptz default now()
)
  returns text
  language plpgsql
  volatile
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
as $$
#variable_conflict use_column
declare
  v_settings memory.settings := memory.current_settings();
  v_job record;
  v_is_new boolean;
  v_last_run timestamptz;
begin
  perform memory.check_time('as_of', as_of);
  select j.schedule, j.call into v_job
  from memory.all_jobs(v_settings) as j where j.job = claim_job.job;
  if not found then
    raise exception 'no job is named %', quote_nullable(job)
      using errcode = 'PM001', hint = 'docs/operations.md lists the periodic jobs.';
  end if;

  insert into memory.job_runs (tenant_id, job, known_since)
  select v_settings.tenant_id, claim_job.job, as_of where v_job.schedule <> 'off'
  on conflict do nothing;
  v_is_new := found;
  select coalesce(r.ran_at, r.known_since) into v_last_run
  from memory.job_runs as r
  where r.tenant_id = v_settings.tenant_id and r.job = claim_job.job
  for update skip locked;
  if not found then
    return null;
  end if;
  if v_is_new or memory.is_job_due(v_job.schedule, v_last_run, as_of) then
    update memory.job_runs as r
    set ran_at = as_of, due_at = coalesce(memory.due_from(v_job.schedule, as_of), 'infinity')
    where r.tenant_id = v_settings.tenant_id and r.job = claim_job.job;
    return v_job.call;
  end if;
  -- While it ran, its schedule has changed (memory.forget_due_times).
  update memory.job_runs as r set due_at = null
  where r.tenant_id = v_settings.tenant_id and r.job = claim_job.job and r.due_at <= as_of;
  return null;
end;
$$;

comment on function memory.claim_job(text, timestamptz) is
'Claims a job that is due and returns its call, to be made in the same transaction, as by '
'memory.run_job: nobody else runs the job meanwhile, and if the transaction fails it is due '
'again. NULL: it is off, not due, or somebody else runs it. Errors: PM001 no such job, PM002 '
'invalid time.';
grant execute on function memory.claim_job to memory_worker, memory_admin;

-- With the rights of the caller: whoever may not call the function of a job cannot run it.
create or replace function memory.run_job(
  job text,
  as_of timestamptz default now()
)
  returns jsonb
  language plpgsql
  volatile
  set search_path = pg_catalog, memory, public, pg_temp
as $$
declare
  v_call text := memory.claim_job(job, as_of);
  v_result jsonb;
begin
  if v_call is null then
    return null;
  end if;
  execute format('select coalesce(jsonb_agg(to_jsonb(r)), ''[]'') from %s as r', v_call)
  into v_result;
  return v_result;
end;
$$;

comment on function memory.run_job(text, timestamptz) is
'Runs a periodic job if it is due at as_of, and returns the rows of its result; the job itself '
'acts as of now. NULL: it is off, not due, or runs elsewhere. Any number of schedulers may call it '
'at once: each due time is run once, by whoever comes first. Errors: PM001 no such job, PM002 '
'invalid time, those of the job.';
grant execute on function memory.run_job to memory_worker, memory_admin;

commit;
