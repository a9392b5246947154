-- Deploy pymem:functions/extras/operations/diagnose to pg

begin;

set local role memory_owner;

-- A new check is a row here, a function examine_… and a line of memory.diagnose.
create or replace function memory.all_checks(
  tenant_id text,
  as_of timestamptz
)
  returns table (
    check_name text,
    of_tenant boolean,
    passed text
  )
  language plpgsql
  stable
  set search_path = pg_catalog, memory, public, pg_temp
as $$
begin
  return query values
  (
    'login', false,
    format('%I acts for tenant %L and is subject to row security', session_user, tenant_id)
  ),
  (
    'server', false,
    format(
      'PostgreSQL %s with pgvector %s serves release %s of the schema',
      split_part(current_setting('server_version'), ' ', 1),
      (select e.extversion from pg_extension as e where e.extname = 'vector'),
      memory.version()
    )
  ),
  ('row_security', false, 'every table separates the tenants'),
  ('guards', false, 'nothing can bypass the audit'),
  ('definitions', false, 'functions, triggers, policies and tables are as deployed'),
  ('privileges', false, 'roles, owners and privileges are as deployed'),
  ('indexes', false, 'every index exists and is valid'),
  ('statistics', false, 'autovacuum maintains every table'),
  ('moves', false, 'no tenant has stopped on its way to another server'),
  ('embeddings', true, 'no memory has waited long for its embedding'),
  ('consolidation', true, 'no episode has waited long for consolidation'),
  (
    'jobs', true,
    'the periodic jobs are up to date' || coalesce(
      case
        when all_checks.tenant_id is not null -- else row security would refuse to read
        then (
          select format(
            '; `pymem run` was last seen %s seconds ago',
            greatest(0, extract(epoch from as_of - s.seen_at)::bigint)
          )
          from memory.runner_seen_at(all_checks.tenant_id) as s (seen_at)
          where s.seen_at is not null
        )
      end,
      ''
    )
  ),
  ('fading', true, 'no fact or rule fades out of the searches within 14 days'),
  ('settings', true, 'no setting contradicts another'),
  ('tokens', true, 'no access token in use expires soon');
end;
$$;

comment on function memory.all_checks(text, timestamptz) is
'The checks of memory.diagnose in order: whether they concern the tenant rather than the database, '
'and the message if they find nothing.';

create or replace function memory.diagnose(
  passed boolean default false,
  as_of timestamptz default now()
)
  returns setof memory.finding
  language plpgsql
  stable
  security definer
  set search_path = pg_catalog, memory, public, pg_temp
  set jit = off -- compiling takes longer than it saves
as $$
declare
  v_settings memory.settings;
begin
  perform memory.check_time('as_of', as_of);
  begin
    v_settings := memory.current_settings();
  exception
    when invalid_authorization_specification then
      null; -- No tenant: examine_login reports it, and the checks that need one find nothing.
  end;

  return query
  with checks as (
    select c.*
    from memory.all_checks(v_settings.tenant_id, as_of)
      with ordinality as c (check_name, of_tenant, passed, position)
  ),
  found as (
    select f.* from memory.examine_login(v_settings.tenant_id) as f
    union all
    select f.* from memory.examine_server(current_setting('server_version_num')::integer) as f
    union all
    select f.* from memory.examine_row_security() as f
    union all
    select f.* from memory.examine_guards() as f
    union all
    select f.* from memory.examine_definitions() as f
    union all
    select f.* from memory.examine_privileges(
      v_settings.tenant_id, current_setting('server_version_num')::integer
    ) as f
    union all
    select f.* from memory.examine_indexes() as f
    union all
    select f.* from memory.examine_statistics() as f
    union all
    select f.* from memory.examine_moves(v_settings.tenant_id, as_of) as f
    union all
    select f.* from memory.examine_embeddings(v_settings, as_of) as f
    union all
    select f.* from memory.examine_consolidation(v_settings, as_of) as f
    union all
    select f.* from memory.examine_jobs(v_settings, as_of) as f
    union all
    select f.* from memory.examine_fading(v_settings, as_of) as f
    union all
    select f.* from memory.examine_settings(v_settings) as f
    union all
    select f.* from memory.examine_tokens(v_settings, as_of) as f
  )
  select r.severity, r.check_name, r.subject, r.message, r.hint
  from (
    select c.position, f.*
    from found as f
    join checks as c on c.check_name = f.check_name
    union all
    select c.position, 'ok', c.check_name, null, c.passed, null
    from checks as c
    where diagnose.passed
      and (v_settings.tenant_id is not null or not c.of_tenant)
      and not exists (select from found as f where f.check_name = c.check_name)
  ) as r
  order by
    array_position('{error,warning,info,ok}', r.severity), r.position, r.subject, r.message, r.hint;
end;
$$;

comment on function memory.diagnose(boolean, timestamptz) is
'Problems with the login of this session, the database and the memories of the tenant, worst '
'first; no rows if there are none. With passed, also a row of severity ok for each check that '
'found nothing. Without a tenant, as for a superuser who has not set one, only the database is '
'checked, and a finding says so. Only reads, and reads nothing of other tenants. Errors: PM002 '
'invalid time.';
grant execute on function memory.diagnose
to memory_writer, memory_worker, memory_reader, memory_admin;

commit;
