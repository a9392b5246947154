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
      'select memory.set_request(tenant_id => %L, actor => %L); select %s;',
      v_settings.tenant_id, 'schedule:' || j.job, j.call
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

commit;
