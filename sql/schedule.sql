-- Hands the periodic jobs of a tenant to pg_cron. For a superuser or who has deployed the memory, with
-- psql, in the database with the schema memory:
--
--   psql -d yourdb -v tenant=acme -v login=acme_jobs -f sql/schedule.sql
--
-- What is due when is in the tenant's settings (docs/configuration.md); run this again whenever they
-- change: it registers, changes and removes until pg_cron has exactly the jobs that are not off.
--
-- Consolidation is none of them, because it asks an LLM: let cron call `pymem consolidate --due`, which does
-- what is due by the settings (after six hours, or a hundred episodes of an agent).
--
-- login: the role as which the jobs run. It must be a login that acts for the tenant and has the
-- roles of its jobs (docs/operations.md), which sql/grant_login.sql gives it. With
-- cron.use_background_workers = on it needs no password.
--
-- Who is not a superuser registers the jobs as that login, which needs the use of pg_cron, and may act as
-- it, as who has created it may; and names the database of pg_cron if it is another one:
-- -v cron_database=postgres. Jobs that another login had stay then; run this for it, too, after
-- turning its jobs off, or as a superuser.

\set ON_ERROR_STOP on

-- Not every role may read the setting that names the database of pg_cron.
\if :{?cron_database}
\else
select coalesce(
  case
    when pg_has_role('pg_read_all_settings', 'usage')
    then current_setting('cron.database_name', true)
    when exists (select from pg_extension as e where e.extname = 'pg_cron') then current_database()
  end,
  ''
) as cron_database \gset
\endif
select :'cron_database' = '' as lacks_pg_cron \gset
\if :lacks_pg_cron
do $$
begin
  if pg_has_role('pg_read_all_settings', 'usage') then
    raise exception 'pg_cron does not run on this server'
      using hint = 'Add pg_cron to shared_preload_libraries and restart the server.';
  end if;
  raise exception 'pg_cron is not in this database, and % may not ask where it is', current_user
    using hint = 'Name its database, postgres by default: -v cron_database=postgres';
end;
$$;
\endif

begin;
select memory.set_request(tenant_id => :'tenant') \g /dev/null
-- A job's name has room for 63 octets, less than a database and a tenant may need.
select
  current_database() as database,
  'pymem:'
    || left(md5(jsonb_build_array(current_database(), :'tenant'::text)::text), 16)
    || ':' as prefix,
  coalesce(jsonb_agg(j), '[]') as jobs
from memory.list_jobs(:'login') as j \gset
commit;

\connect :cron_database

set client_min_messages = warning;
create extension if not exists pg_cron;

select
  r.rolsuper as is_superuser,
  :'database' = current_database() as is_here
from pg_roles as r
where r.rolname = current_user \gset

begin;
select
  set_config('pymem.login', :'login', true),
  set_config('pymem.is_here', :'is_here', true) \g /dev/null
\if :is_superuser
\else
-- Until the end of the transaction: act as the login, which owns its jobs.
do $$
declare
  v_login name := current_setting('pymem.login');
  v_function text :=
    'cron.schedule_in_database(text, text, text, text, text, boolean)';
begin
  if not has_schema_privilege(v_login, 'cron', 'usage') then
    raise exception 'login % may not use pg_cron', quote_ident(v_login)
      using errcode = '42501',
        hint = format(
          'As who administers pg_cron, in database %I: grant usage on schema cron to %I;',
          current_database(), v_login
        );
  elsif current_setting('pymem.is_here') = 'f'
    and not (
      -- Names of functions cannot be looked up in a schema that this role may not use.
      select coalesce(bool_or(has_function_privilege(v_login, p.oid, 'execute')), false)
      from pg_proc as p
      where p.pronamespace = 'cron'::regnamespace and p.proname = 'schedule_in_database'
    )
  then
    raise exception 'login % may not schedule jobs in other databases', quote_ident(v_login)
      using errcode = '42501',
        hint = format(
          'As who administers pg_cron, in database %I: grant execute on function %s to %I;',
          current_database(), v_function, v_login
        );
  end if;
  if not pg_has_role(
    v_login,
    case when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end
  ) then
    execute format('grant %I to %I', v_login, current_user);
    perform set_config('pymem.granted_to', current_user, true);
  end if;
end;
$$;
set local role :"login";
\endif
select cron.unschedule(c.jobid)
from cron.job as c
where starts_with(c.jobname, :'prefix')
  and (c.username, c.jobname) not in (
    select :'login', :'prefix' || j.job
    from jsonb_to_recordset(:'jobs') as j (job text)
  ) \g /dev/null
\if :is_superuser
select cron.schedule_in_database(
  :'prefix' || j.job, j.schedule, j.command, :'database', :'login'
)
from jsonb_to_recordset(:'jobs') as j (job text, schedule text, command text)
order by j.job \g /dev/null
\elif :is_here
select cron.schedule(:'prefix' || j.job, j.schedule, j.command)
from jsonb_to_recordset(:'jobs') as j (job text, schedule text, command text)
order by j.job \g /dev/null
\else
select cron.schedule_in_database(:'prefix' || j.job, j.schedule, j.command, :'database')
from jsonb_to_recordset(:'jobs') as j (job text, schedule text, command text)
order by j.job \g /dev/null
\endif
-- What is shown is what the login sees of its own, unless a superuser asks.
select c.jobname, c.schedule, c.command, c.username, c.active
from cron.job as c
where starts_with(c.jobname, :'prefix')
order by c.jobname;

reset role;
do $$
begin
  if nullif(current_setting('pymem.granted_to', true), '') is not null then
    execute format(
      'revoke %I from %I', current_setting('pymem.login'), current_setting('pymem.granted_to')
    );
  end if;
end;
$$;
commit;
